/** The libraries of an admission expression, in the order in which the API server adds them (cel.md §4). */
import type { Library } from '../library.ts';
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts';
import { cidrLibrary } from './cidr.ts';
import { comprehensionsLibrary } from './comprehensions.ts';
import { ipLibrary } from './ip.ts';
import { firstAndLastLibrary, listExtensionLibrary, listsLibrary } from './lists.ts';
import { namedFormatLibrary } from './named-format.ts';
import { optionalLibrary } from './optional.ts';
import { quantityLibrary } from './quantity.ts';
import { regexLibrary } from './regex.ts';
import { semverLibrary } from './semver.ts';
import { setsLibrary } from './sets.ts';
import { standardConversions } from './standard-conversions.ts';
import { standardOperators } from './standard-operators.ts';
import { standardStrings } from './standard-strings.ts';
import { standardTime } from './standard-time.ts';
import { strings } from './strings.ts';
import { urlLibrary } from './url.ts';

/** @returns the libraries; what they keep, such as compiled patterns, lives as long as they do. */
export function allLibraries(): readonly Library[] {
  return [
    standardOperators,
    standardConversions,
    standardStrings(),
    standardTime(),
    urlLibrary,
    regexLibrary(),
    listsLibrary,
    authorizerLibrary,
    authorizerSelectorsLibrary,
    optionalLibrary,
    firstAndLastLibrary,
    quantityLibrary,
    strings,
    setsLibrary,
    ipLibrary,
    cidrLibrary,
    namedFormatLibrary,
    comprehensionsLibrary,
    semverLibrary,
    listExtensionLibrary,
  ];
}
