import type { Store } from '../store/database.ts'
import { deleteInBatches } from '../store/delete-in-batches.ts'
import { dropResponses, findExcess } from '../store/gate/stored-responses.ts'

/** A project is checked when this share of its limit was stored, so it exceeds the limit by the share. */
const checkedShare = 1 / 16

/**
 * Keeps the stored responses of each project within a limit of bytes.
 *
 * The database has the exact bytes, and adding them up for each call takes too long. So this process
 * counts what it stores, and adds up the stored bytes of a project when the count has reached the share
 * of the limit, and after its first call since the start: an earlier process may have stored responses.
 */
export function createStoredBytes(store: Pick<Store, 'read' | 'write'>, bytesMax: number) {
  const shareBytes = bytesMax * checkedShare
  const counts = new Map<string, number>()

  async function dropExcessOf(projectId: string): Promise<void> {
    const throughMs = await findExcess(store, projectId, bytesMax)
    if (throughMs === undefined) return
    await deleteInBatches(store, (tx) => dropResponses(tx, projectId, throughMs))
  }

  return {
    /** Counts bytes that a call of the project stored. */
    add: (projectId: string, bytes: number): void =>
      void counts.set(projectId, (counts.get(projectId) ?? shareBytes) + bytes),
    /**
     * Drops the oldest responses of the projects that exceed the limit. After a failure, a project is
     * checked again when half of its share was stored. @throws AggregateError after all checks.
     */
    dropExcess: async (): Promise<void> => {
      const errors: unknown[] = []
      for (const [projectId, bytes] of counts) {
        if (bytes < shareBytes) continue
        counts.set(projectId, 0)
        await dropExcessOf(projectId).catch((error: unknown) => {
          errors.push(error)
          counts.set(projectId, (counts.get(projectId) ?? 0) + shareBytes / 2)
        })
      }
      if (errors.length > 0) throw new AggregateError(errors, 'stored responses were not checked')
    },
  }
}
