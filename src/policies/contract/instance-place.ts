/** A key that a path with dots and brackets can hold. */
const PLAIN_KEY = /^[^.[\]]+$/;
const INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * A JSON Pointer into a contract (`/interfaces/0/ref`) as the path that findings have (`interfaces[0].ref`); as far as it can
 * be said in one, for keys may hold dots. Empty for the contract itself.
 */
export function instancePlace(pointer: string): string {
  let place = '';
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!PLAIN_KEY.test(key)) return place;
    if (INDEX.test(key)) place += `[${key}]`;
    else place += place === '' ? key : `.${key}`;
  }
  return place;
}
