import type { ModelPack } from './manifest.ts'

/** The models that ship inside the installed packages. */
export declare const builtinPack: ModelPack
