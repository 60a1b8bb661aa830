import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  exportDeletions,
  type ExportDeletionsResult,
} from '../../gallery/deletion/deletions-file.ts'
import { replayDeletions } from '../../gallery/deletion/subject-deletion.ts'
import { createEntryHook } from '../audit/audited-change.ts'
import { type CommandValues, print, toJson } from '../command.ts'
import { withStore } from '../with-store.ts'

export async function exportTo({
  to: file,
  every,
  json,
}: {
  readonly to: string
  /** Seconds between two exports; undefined: one export. */
  readonly every: number | undefined
  readonly json: boolean
}): Promise<void> {
  const report = (result: ExportDeletionsResult): void =>
    print(result, json, () => `${result.added} records added, ${result.records} in ${file}`)
  await withStore(async (store) => {
    report(await exportDeletions(store, file))
    if (every !== undefined)
      await repeat(every * 1000, async () => {
        const result = await exportDeletions(store, file)
        if (result.added > 0) report(result)
      })
  })
}

/** Repeats the export until a signal. After a failed export, the next one exports the same records. */
async function repeat(intervalMs: number, work: () => Promise<void>): Promise<void> {
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  process.once('SIGINT', () => stopping.abort())
  while (!stopping.signal.aborted) {
    await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    await work().catch((error: unknown) => console.error(`facegate: ${toJson(String(error))}`))
  }
}

export async function replayFrom({ from: file, json }: CommandValues<'from'>): Promise<void> {
  const result = await withStore(async (store) => {
    const target = path.basename(file)
    const onFirstBatch = await createEntryHook(store, { auditAction: 'deletions.replay', target })
    return replayDeletions(store, file, onFirstBatch)
  })
  const { records, inserted, deletedAgain } = result
  print(
    result,
    json,
    () =>
      `${records} records, ${inserted} of them missing in the database; ` +
      `${deletedAgain} subjects were deleted again`,
  )
}
