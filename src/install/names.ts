/** What the installer calls the objects that it writes. */
import { GATE_GROUP } from '../cluster/kinds.ts';

export const FIELD_MANAGER = 'pacto-gate';
export const INSTALLER_LEASE = 'pacto-gate-installer';

/** Native policies and bindings carry it; one without is somebody else's and never touched (design decision 19). */
export const MANAGED_LABEL = `${GATE_GROUP}/managed-by`;
export const MANAGED_VALUE = 'pacto-gate';
export const MANAGED_SELECTOR = `${MANAGED_LABEL}=${MANAGED_VALUE}`;

export { CANARY_NAME } from '../policies/vap/entry-name.ts';
/** On the ConfigMap of a dry run: which canary it is for. */
export const CANARY_LABEL = `${GATE_GROUP}/canary`;
