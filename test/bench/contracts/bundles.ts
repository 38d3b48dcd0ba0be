/** Bundles as services publish them: two interfaces, a configuration with its schema, a policy, a readiness section. */
import { CONTRACT_FILE, type BundleFiles } from '../../../src/policies/contract/bundle-files.ts';

const OPERATIONS = 10;
const SETTINGS = 12;

/**
 * @param variant no two share the text of a contract or an interface
 * @param schemas the same number means the same two schemas
 */
export function typicalBundle(variant: number, schemas: number): BundleFiles {
  const texts: Readonly<Record<string, string>> = {
    [CONTRACT_FILE]: contractText(variant, schemas),
    'interfaces/web.yaml': openApi(variant),
    'interfaces/events.yaml': asyncApi(variant),
    'configuration/schema.json': JSON.stringify(configurationSchema(schemas), undefined, 2),
    'policy/schema.json': JSON.stringify(policySchema(schemas), undefined, 2),
  };
  const encoder = new TextEncoder();
  return new Map(Object.entries(texts).map(([path, text]) => [path, encoder.encode(text)]));
}

function contractText(variant: number, schemas: number): string {
  const digest = variant.toString(16).padStart(64, '0');
  const settings = settingNames(schemas).map((name, index) => `      ${name}: ${index * 10 + 1}`);
  return `# The contract of a service: what it offers, what it needs, and how it is to run.
pactoVersion: "2.0"
service:
  name: service-${variant}
  version: 1.${variant}.0
  owner:
    team: shop
    dri: on-call
    contacts:
      - { type: chat, value: "#shop-${variant}", purpose: support }
interfaces:
  - { name: web, type: openapi, ref: interfaces/web.yaml, visibility: public }
  - { name: events, type: asyncapi, ref: interfaces/events.yaml }
capabilities:
  - type: health
    binding: { type: http, interface: web, path: /healthz }
  - type: metrics
    binding: { type: http, interface: web, path: /metrics }
configurations:
  - name: settings
    required: true
    schema: configuration/schema.json
    values:
${settings.join('\n')}
      CURRENCY: EUR
policies:
  - name: owned
    schema: policy/schema.json
dependencies:
  - { name: payments, ref: "oci://r.test/shop/payments@sha256:${digest}", required: true, compatibility: ^2.1.0 }
  - { name: mail, ref: "oci://r.test/shop/mail@sha256:${digest}", required: false, compatibility: ">=1.4 <3" }
workload: service
state:
  type: stateful
  persistence: { scope: shared, durability: persistent }
  dataCriticality: high
readiness:
  expires: "2099-12-31"
  minScore: 60
  claims:
    - { id: load-test, type: report, status: done, evidence: reports/${variant}.html, weight: 40, category: testing }
    - { id: runbook, type: document, status: partial, evidence: docs/runbook.md, weight: 30 }
    - { id: alerts, type: url, status: done, evidence: "https://dashboards.test/${variant}", weight: 30 }
  history:
    - { date: "2026-01-31", version: 1.0.0, author: shop, description: first assessment }
metadata:
  tier: gold
`;
}

function settingNames(schemas: number): readonly string[] {
  return Array.from({ length: SETTINGS }, (_, index) => `SETTING_${schemas}_${index}`);
}

function configurationSchema(schemas: number): object {
  const names = settingNames(schemas);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: [...names.slice(0, 4), 'CURRENCY'],
    properties: {
      ...Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/positive' }])),
      CURRENCY: { type: 'string', pattern: '^[A-Z]{3}$' },
    },
    additionalProperties: false,
    $defs: { positive: { type: 'integer', minimum: 1, maximum: 100_000 } },
  };
}

function policySchema(schemas: number): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `services of tier ${schemas}`,
    type: 'object',
    required: ['readiness', 'state'],
    properties: {
      service: { required: ['owner'], properties: { owner: { required: ['team'] } } },
      interfaces: { type: 'array', items: { required: ['name'] } },
    },
  };
}

function openApi(variant: number): string {
  const operations = Array.from(
    { length: OPERATIONS },
    (_, index) => `  /orders-${variant}/${index}/{id}:
    get:
      operationId: read${index}
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
      responses:
        "200":
          description: what was asked for
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Order" }
        "404":
          description: there is none
`,
  );
  return `openapi: 3.1.0
info: { title: service ${variant}, version: 1.${variant}.0 }
paths:
${operations.join('')}components:
  schemas:
    Order:
      type: object
      required: [id, total]
      properties:
        id: { type: string }
        total: { type: integer, minimum: 0 }
`;
}

function asyncApi(variant: number): string {
  return `asyncapi: 3.0.0
info: { title: events of service ${variant}, version: 1.${variant}.0 }
channels:
  placed:
    address: orders.${variant}.placed
    messages:
      placed: { payload: { type: object, properties: { id: { type: string } } } }
operations:
  tell: { action: send, channel: { $ref: "#/channels/placed" } }
`;
}
