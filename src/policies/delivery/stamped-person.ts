/** Whoever asks, as it is written into Operations and Approvals (delivery.md §3.2, §3.3). */
import type { AdmissionRequest } from '../../cluster/objects.ts';
import { personOf } from './delivery-answer.ts';
import type { Person } from './operation.ts';

/** Groups that are kept: an identity provider may send hundreds. The definitions have the same bound. */
const MOST_GROUPS = 64;
/** The definitions' own bounds, in characters. */
const MOST_NAME = 1_024;
const MOST_UID = 256;

/** The same whenever the same person asks: what stamps wrote is what the rules derive again. */
export function stampedPerson(request: Pick<AdmissionRequest, 'userInfo'>): Person {
  const { username, uid, groups } = personOf(request);
  return {
    username: username.slice(0, MOST_NAME),
    uid: uid.slice(0, MOST_UID),
    groups: groups.filter((group) => group.length <= MOST_NAME).slice(0, MOST_GROUPS),
  };
}

export function isSameStamp(a: Person, b: Person): boolean {
  return (
    a.username === b.username &&
    a.uid === b.uid &&
    a.groups.length === b.groups.length &&
    a.groups.every((group, index) => group === b.groups[index])
  );
}
