/**
 * Names that @peculiar/x509 expects from a browser's type library. Node has the same things as
 * `webcrypto`, and the whole browser library would let `window` and friends into a server's code.
 */
import type { webcrypto } from 'node:crypto';

declare global {
  type BufferSource = ArrayBufferView | ArrayBuffer;
  type Algorithm = webcrypto.Algorithm;
  type EcKeyGenParams = webcrypto.EcKeyGenParams;
  type EcdsaParams = webcrypto.EcdsaParams;
  type EcKeyImportParams = webcrypto.EcKeyImportParams;
  type RsaHashedKeyGenParams = webcrypto.RsaHashedKeyGenParams;
  type RsaHashedImportParams = webcrypto.RsaHashedImportParams;
  type AlgorithmIdentifier = webcrypto.AlgorithmIdentifier;
  type KeyUsage = webcrypto.KeyUsage;
  type CryptoKeyPair = webcrypto.CryptoKeyPair;
  type Crypto = webcrypto.Crypto;
  type CryptoKey = webcrypto.CryptoKey;
}
