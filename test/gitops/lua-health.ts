/** Health scripts of Argo CD, run by a Lua interpreter without the string library, as there. */
import { LuaFactory, LuaLibraries } from 'wasmoon';

export interface Health {
  readonly status: string;
  readonly message: string;
}

/** A JSON value as Argo CD hands it to Lua: null is nothing, and lists begin at 1. */
function lua(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (typeof value === 'string') {
    return `"${[...Buffer.from(value)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
  }
  if (Array.isArray(value)) return `{${value.map(lua).join(',')}}`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, field]) => `[${lua(key)}]=${lua(field)}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

const factory = new LuaFactory();

export async function healthBy(script: string, object: object): Promise<Health> {
  const engine = await factory.createEngine({ openStandardLibs: false });
  try {
    engine.global.loadLibrary(LuaLibraries.Base);
    const said: unknown = await engine.doString(`
      local obj = ${lua(object)}
      local function health()
        ${script}
      end
      local hs = health()
      return hs.status .. "\\n" .. hs.message`);
    const [status = '', message = ''] = String(said).split(/\n(.*)/s);
    return { status, message };
  } finally {
    engine.global.close();
  }
}
