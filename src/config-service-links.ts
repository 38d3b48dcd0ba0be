/**
 * What Kubernetes puts into every container for each Service of the namespace. A Service called
 * `pacto-gate-webhooks` makes PACTO_GATE_WEBHOOKS_PORT=tcp://10.96.0.7:443, which is not our port.
 */
export function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name))
    return true;
  return name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value);
}
