/** Zones of the IANA database, by the names that Go finds on the API server's disk: in their exact case. */
import { CelError } from '../values.ts';

/** How many zones stay known: policies name a handful, objects may name any. */
const MAX_ZONES = 64;

/** "Local" is the zone of the API server, whose images run in UTC; ICU does not know "Factory". */
const UTC_NAMES: ReadonlySet<string> = new Set(['', 'UTC', 'Local', 'Factory']);

/** Names of one word that are written in capitals. ICU knows more (`PST`, `ACT`); they are its own, not IANA's. */
// prettier-ignore
const CAPITAL_NAMES: ReadonlySet<string> = new Set([
  'CET', 'CST6CDT', 'EET', 'EST', 'EST5EDT', 'GB', 'GMT', 'GMT+0', 'GMT-0', 'GMT0', 'HST', 'MET', 'MST', 'MST7MDT',
  'NZ', 'NZ-CHAT', 'PRC', 'PST8PDT', 'ROC', 'ROK', 'UCT', 'UTC', 'W-SU', 'WET',
]);

/** Names that no rule writes. */
const IRREGULAR_NAMES: ReadonlySet<string> = new Set([
  'America/Argentina/ComodRivadavia',
  'America/Knox_IN',
  'Antarctica/DumontDUrville',
  'Antarctica/McMurdo',
  'Australia/ACT',
  'Australia/LHI',
  'Australia/NSW',
  'Brazil/DeNoronha',
  'Chile/EasterIsland',
  'GB-Eire',
  'Mexico/BajaNorte',
  'Mexico/BajaSur',
]);

/** Words that stay small within a name: Dar_es_Salaam, Port-au-Prince, Isle_of_Man. */
const SMALL_WORDS: ReadonlySet<string> = new Set(['au', 'es', 'of']);

/** Directories of the database: Go opens one, and then cannot read it. */
const DIRECTORIES =
  /^(?:Africa|America(?:\/(?:Argentina|Indiana|Kentucky|North_Dakota))?|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Etc|Europe|Indian|Mexico|Pacific|US)$/;

/** Zones that ICU has beside those of IANA. */
const FOREIGN = /^(?:SystemV\/.*|US\/Pacific-New)$/;

interface Zone {
  readonly format: Intl.DateTimeFormat;
}

/** A memory of zones, bounded; one for each library that has been made. */
export class TimeZones {
  readonly #zones = new Map<string, Zone | CelError>();

  /**
   * @param at seconds since the Unix epoch
   * @returns seconds east of UTC, or Go's error for a name that is none
   */
  offsetSeconds(name: string, at: number): number | CelError {
    if (UTC_NAMES.has(name)) return 0;
    let zone = this.#zones.get(name);
    if (zone === undefined) {
      zone = openZone(name);
      if (this.#zones.size >= MAX_ZONES) this.#zones.clear();
      this.#zones.set(name, zone);
    }
    return zone instanceof CelError ? zone : offsetOf(zone, at);
  }
}

function openZone(name: string): Zone | CelError {
  if (name.includes('..') || name.startsWith('/') || name.startsWith('\\')) {
    return new CelError('time: invalid location name');
  }
  if (DIRECTORIES.test(name)) return new CelError('is a directory');
  const unknown = new CelError(`unknown time zone ${name}`);
  if (!isWrittenAsIana(name)) return unknown;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return { format };
  } catch {
    return unknown;
  }
}

function isWrittenAsIana(name: string): boolean {
  if (CAPITAL_NAMES.has(name) || IRREGULAR_NAMES.has(name)) return true;
  if (FOREIGN.test(name)) return false;
  const parts = name.split('/');
  const [area = ''] = parts;
  // Of one word are countries and the like; shorter ones are ICU's, and a digit is an offset for ICU.
  if (parts.length === 1) return /^[A-Z][a-z]{3,}$/.test(area);
  if (area === 'Etc') return /^Etc\/(?:GMT(?:[+-]\d{1,2}|0)?|UTC|UCT|Greenwich|Universal|Zulu)$/.test(name);
  if (area !== 'US' && !/^[A-Z][a-z]+$/.test(area)) return false;
  return parts.slice(1).every(isWrittenAsPlace);
}

function isWrittenAsPlace(part: string): boolean {
  return part.split(/[_-]/).every((word) => SMALL_WORDS.has(word) || /^[A-Z][a-z]*$/.test(word));
}

function offsetOf({ format }: Zone, at: number): number {
  const fields: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(at * 1000)) fields[type] = value;
  const field = (name: string) => Number(fields[name]);
  const year = fields['era'] === 'BC' ? 1 - field('year') : field('year');
  const local = new Date(0);
  local.setUTCFullYear(year, field('month') - 1, field('day'));
  local.setUTCHours(field('hour'), field('minute'), field('second'));
  return local.getTime() / 1000 - at;
}
