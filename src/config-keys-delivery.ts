/** The keys of the delivery gate; config-keys.ts has all of them. */
import { choice, count, flag, optionalText, textWith } from './config-keys-kinds.ts';
import { label } from './config-keys-texts.ts';

export const DELIVERY_KEYS = {
  delivery: {
    enabled: flag(
      false,
      'The delivery gate: a labelled pointer moves forward only as the gate of its Stage lets it. Needs the definitions ' +
        'of Stage, Operation and Approval.',
    ),
    namespace: textWith(
      label,
      'pacto-delivery',
      'a namespace',
      'Namespace of the ConfigMap with the identity policy; whoever may write ConfigMaps there says who may promote.',
    ),
    failurePolicy: choice(
      ['Fail', 'Ignore'],
      'Fail',
      'What happens to a move of a pointer that the gate could not answer. The rules for Stages, Operations and ' +
        'Approvals always fail.',
    ),
    workloads: {
      enabled: flag(
        false,
        'Gates workloads too, in namespaces with the label delivery.pacto.trianalab.io/workloads.',
      ),
      failurePolicy: choice(
        ['Fail', 'Ignore'],
        'Ignore',
        'What happens to a change of a workload that the gate could not answer.',
      ),
    },
    stickySeconds: count(
      30,
      0,
      300,
      'How long an Allow of the gate counts, so that a dry-run and the apply behind it agree. 0: not at all.',
    ),
    promoter: optionalText(
      'a user name',
      'User that alone moves pointers, each by an Operation. Default: there is none, and everybody is judged alike.',
    ),
  },
} as const;
