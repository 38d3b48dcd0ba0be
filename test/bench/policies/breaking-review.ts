/** A Pod that every one of the sixteen policies refuses: the proof that each is evaluated. */
import { aPod, aReview } from '../../support/builders.ts';

export function breakingReview(): Buffer {
  const container = {
    name: 'main',
    image: 'registry.example/shop/web:latest',
    ports: [{ containerPort: 80 }],
    resources: { limits: { memory: '64Gi' } },
    securityContext: { privileged: true, allowPrivilegeEscalation: true, runAsNonRoot: false },
  };
  const pod = aPod({
    name: 'web',
    namespace: 'shop',
    with: {
      spec: {
        hostNetwork: true,
        hostPID: true,
        hostIPC: true,
        // The second has the name of the first.
        containers: [container, container],
        volumes: [{ name: 'root', hostPath: { path: '/' } }],
        terminationGracePeriodSeconds: 600,
      },
    },
  });
  return Buffer.from(JSON.stringify(aReview({ object: pod })));
}
