import type { Payload, PayloadCodec } from '@temporalio/common';

export interface CodemodeCodecOptions {
  /**
   * Keys as in CODEMODE_ENCRYPTION_KEYS: "2026-11:<base64 of 32 bytes>,2026-05:<base64>". The first encrypts, all
   * decrypt. Without keys payloads are only compressed. Give workers, commands and clients the same.
   */
  keys?: string;
  /** Refuses to read what is not encrypted, as `encryption.required` does for workers. */
  required?: boolean;
}

/** For `dataConverter: { payloadCodecs: [new CodemodeCodec()] }` of a client or worker. */
export declare class CodemodeCodec implements PayloadCodec {
  constructor(options?: CodemodeCodecOptions);
  encode(payloads: Payload[]): Promise<Payload[]>;
  decode(payloads: Payload[]): Promise<Payload[]>;
}
