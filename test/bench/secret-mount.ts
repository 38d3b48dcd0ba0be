/** A folder as the kubelet mounts a Secret: files are links into `..data`, itself a link that is replaced at once. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsPair } from '../../src/http/certificate.ts';

export class SecretMount {
  readonly certFile: string;
  readonly keyFile: string;
  private readonly directory: string;
  private version = 0;

  constructor(directory: string, pair: TlsPair) {
    this.directory = directory;
    this.certFile = join(directory, 'tls.crt');
    this.keyFile = join(directory, 'tls.key');
    mkdirSync(directory, { recursive: true });
    this.publish(pair);
    symlinkSync('..data/tls.crt', this.certFile);
    symlinkSync('..data/tls.key', this.keyFile);
  }

  /** Replaces both files in one step. */
  publish(pair: TlsPair): void {
    this.version += 1;
    const name = `..version-${this.version}`;
    mkdirSync(join(this.directory, name));
    writeFileSync(join(this.directory, name, 'tls.crt'), pair.certPem);
    writeFileSync(join(this.directory, name, 'tls.key'), pair.keyPem, { mode: 0o600 });
    symlinkSync(name, join(this.directory, '..data_tmp'));
    renameSync(join(this.directory, '..data_tmp'), join(this.directory, '..data'));
  }
}
