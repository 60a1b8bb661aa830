import { builtinPack } from '../models/builtin.ts'
import type { ModelId } from '../models/manifest.ts'
import { openSession } from './session.ts'
import type { Session } from './session.ts'

/** The loaded networks of one pipeline: each once, whoever of its roles needs it. */
export type Sessions = {
  /** Loads a model of the built-in pack, if nobody has yet. */
  readonly builtin: (id: ModelId) => Promise<Session>
  /** Frees them all; nothing may be asked afterwards. */
  readonly close: () => Promise<void>
}

/** `modelsFolder` is the folder that `preparePack` filled. */
export function createSessions(modelsFolder: string): Sessions {
  const open = new Map<string, Promise<Session>>()

  function builtin(id: ModelId): Promise<Session> {
    const session = open.get(id) ?? openSession(modelsFolder, builtinPack.models[id])
    open.set(id, session)
    return session
  }

  async function close(): Promise<void> {
    for (const session of open.values()) await (await session).close()
  }

  return { builtin, close }
}

/** "id@version+id@version", as `providers` of an answer name the models of a role. */
export function providersOf(
  models: readonly { readonly id: string; readonly version: string }[],
): string {
  return models.map(({ id, version }) => `${id}@${version}`).join('+')
}
