import path from 'node:path'

import { builtinPack } from '../models/builtin/builtin-pack.ts'
import type { BuiltinModelId } from '../models/builtin/builtin-model.ts'
import type { InstalledModel } from '../models/model-set.ts'
import { openInstalledModel, openBuiltinModel, type ModelSession } from './session.ts'

/** The loaded networks of one pipeline. Roles that use the same network share one session. */
export type ModelSessions = ReturnType<typeof createModelSessions>

/**
 * @param modelsFolder the folder that `prepareBuiltinPack` filled.
 * @param optimizedFolder the folder that `prepareOptimizedNetworks` filled.
 */
export function createModelSessions(modelsFolder: string, optimizedFolder?: string) {
  const sessions = new Map<string, Promise<ModelSession>>()

  function openOnce(key: string, load: () => Promise<ModelSession>): Promise<ModelSession> {
    const session = sessions.get(key) ?? load()
    sessions.set(key, session)
    return session
  }

  return {
    /** Returns the session of a model of the built-in pack; loads the model at the first call. */
    openBuiltin: (id: BuiltinModelId) =>
      openOnce(id, () => openBuiltinModel(modelsFolder, builtinPack.models[id], optimizedFolder)),
    /**
     * Returns the session of a model of an installed pack; loads the model at the first call.
     *
     * @throws Error naming the file if it does not match its manifest.
     */
    openInstalled: (installed: InstalledModel) =>
      openOnce(path.join(installed.folder, installed.model.file), () =>
        openInstalledModel(installed, optimizedFolder),
      ),
    /** Closes all sessions. They cannot be used afterwards. */
    close: async (): Promise<void> => {
      for (const session of sessions.values()) await (await session).close()
    },
  }
}

/** Returns "id@version+id@version", the format of `providers` in responses. */
export function formatProviders(
  models: readonly { readonly id: string; readonly version: string }[],
): string {
  return models.map(({ id, version }) => `${id}@${version}`).join('+')
}
