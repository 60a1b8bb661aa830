import path from 'node:path'

import { builtinPack } from '../models/builtin/builtin-pack.ts'
import type { BuiltinModelId } from '../models/builtin/builtin-model.ts'
import type { InstalledModel } from '../models/model-set.ts'
import { openInstalledModel, openBuiltinModel } from './session.ts'
import type { ModelSession } from './session.ts'

/** The loaded networks of one pipeline: each once, whoever of its roles needs it. */
export type ModelSessions = {
  /** Loads a model of the built-in pack, if nobody has yet. */
  readonly openBuiltin: (id: BuiltinModelId) => Promise<ModelSession>
  /** Loads a model of an installed pack. @throws Error naming the file when it does not fit. */
  readonly openInstalled: (installed: InstalledModel) => Promise<ModelSession>
  /** Frees them all; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

/** `modelsFolder` is the folder that `preparePack` filled. */
export function createModelSessions(modelsFolder: string): ModelSessions {
  const open = new Map<string, Promise<ModelSession>>()

  function once(key: string, load: () => Promise<ModelSession>): Promise<ModelSession> {
    const session = open.get(key) ?? load()
    open.set(key, session)
    return session
  }
  const builtin = (id: BuiltinModelId) =>
    once(id, () => openBuiltinModel(modelsFolder, builtinPack.models[id]))
  const installed = (chosen: InstalledModel) =>
    once(path.join(chosen.folder, chosen.model.file), () => openInstalledModel(chosen))

  async function close(): Promise<void> {
    for (const session of open.values()) await (await session).close()
  }

  return { openBuiltin: builtin, openInstalled: installed, close }
}

/** "id@version+id@version", as `providers` of an answer name the models of a role. */
export function formatProviders(
  models: readonly { readonly id: string; readonly version: string }[],
): string {
  return models.map(({ id, version }) => `${id}@${version}`).join('+')
}
