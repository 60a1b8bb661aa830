import path from 'node:path'

import { builtinPack } from '../models/builtin.ts'
import type { ModelId } from '../models/manifest.ts'
import type { InstalledModel } from '../models/pack.ts'
import { openInstalled, openSession } from './session.ts'
import type { Session } from './session.ts'

/** The loaded networks of one pipeline: each once, whoever of its roles needs it. */
export type Sessions = {
  /** Loads a model of the built-in pack, if nobody has yet. */
  readonly builtin: (id: ModelId) => Promise<Session>
  /** Loads a model of an installed pack. @throws Error naming the file when it does not fit. */
  readonly installed: (installed: InstalledModel) => Promise<Session>
  /** Frees them all; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

/** `modelsFolder` is the folder that `preparePack` filled. */
export function createSessions(modelsFolder: string): Sessions {
  const open = new Map<string, Promise<Session>>()

  function once(key: string, load: () => Promise<Session>): Promise<Session> {
    const session = open.get(key) ?? load()
    open.set(key, session)
    return session
  }
  const builtin = (id: ModelId) => once(id, () => openSession(modelsFolder, builtinPack.models[id]))
  const installed = (chosen: InstalledModel) =>
    once(path.join(chosen.folder, chosen.model.file), () => openInstalled(chosen))

  async function close(): Promise<void> {
    for (const session of open.values()) await (await session).close()
  }

  return { builtin, installed, close }
}

/** "id@version+id@version", as `providers` of an answer name the models of a role. */
export function providersOf(
  models: readonly { readonly id: string; readonly version: string }[],
): string {
  return models.map(({ id, version }) => `${id}@${version}`).join('+')
}
