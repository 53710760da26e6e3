/** What encrypts and decrypts for the planner. Everything readable goes in and out concealed. */
import type { Json, JsonObject, Path } from '../json.ts';
import type { Concealed } from './concealed.ts';

/** A sops configuration with creation rules, and where it stands: the patterns in it match paths below its folder. */
export interface SealingConfig {
  /** Repository path. */
  readonly path: string;
  readonly text: string;
}

/** One value to set, or, without a value, to take out. */
export interface SealStep {
  readonly path: Path;
  readonly value?: Json;
}

export type Opened =
  | { readonly kind: 'opened'; readonly document: Concealed<JsonObject> }
  /** No key at hand opens it. */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** A key was there, but the file is damaged or the program failed. */
  | {
      readonly kind: 'failed';
      readonly reason: 'SealingFailed' | 'EncryptedDocument';
      readonly message: string;
    };

export type Sealed =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: 'SealingFailed' | 'SealingRuleMissing'; readonly message: string };

export interface Sealer {
  /** age recipients for documents that no rule of the repository governs. */
  readonly recipients: readonly string[];
  /** The document in a sealed file. Never throws for what is in the file. */
  open(path: string, bytes: Uint8Array): Promise<Opened>;
  /** Encrypts YAML text by the rule that the configuration holds for the path, and nothing else. */
  seal(request: {
    readonly path: string;
    readonly text: Concealed<string>;
    readonly config: SealingConfig;
    /** Wins over what the rule says of the fields to encrypt. */
    readonly encryptedRegex?: string;
  }): Promise<Sealed>;
  /** Sets single values. The ciphertext of everything else stays byte for byte; needs the key. */
  change(request: {
    readonly path: string;
    readonly bytes: Uint8Array;
    readonly steps: Concealed<readonly SealStep[]>;
  }): Promise<Sealed>;
}
