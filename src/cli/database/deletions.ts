import { setTimeout as sleep } from 'node:timers/promises'
import {
  exportDeletions,
  type ExportDeletionsResult,
} from '../../gallery/deletion/export-deletions.ts'
import { replayDeletions } from '../../gallery/deletion/replay-deletions.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseOptions, requireOption, text } from '../options.ts'
import { toJson, print } from '../output.ts'
import { withStore } from '../with-store.ts'

export const deletions: CliCommand = {
  name: 'deletions',
  summary: 'export deletion records, and repeat deletions after a restore',
  usage: `facegate deletions export --to <file> [--every <seconds>] [--json]
facegate deletions replay --from <file> [--json]

  export appends the records that the file does not contain yet. With --every it repeats
  this until it receives SIGINT or SIGTERM. Keep the file on another disk than the
  database.
  replay is for a database restored from an older copy. Run it before a server uses the
  database. It deletes the subjects listed in the file again and stores their original
  deletion records. It may be repeated.`,
  run: subcommands({ export: exportTo, replay: replayFrom }),
}

async function exportTo(args: readonly string[]): Promise<void> {
  const { to, every, json } = parseOptions(args, { to: text, every: text })
  const file = requireOption(to, 'the file', '--to <file>')
  if (every !== undefined && !/^[1-9]\d{0,4}$/u.test(every))
    throw new UsageError('--every must be a whole number of seconds from 1 to 99999')
  const report = (result: ExportDeletionsResult): void =>
    print(result, json, () => `${result.added} records added, ${result.records} in ${file}`)
  await withStore(async (store) => {
    report(await exportDeletions(store, file))
    if (every !== undefined)
      await repeat(Number(every) * 1000, async () => {
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

async function replayFrom(args: readonly string[]): Promise<void> {
  const { from, json } = parseOptions(args, { from: text })
  const file = requireOption(from, 'the file', '--from <file>')
  const result = await withStore((store) => replayDeletions(store, file))
  const { records, inserted, deletedAgain } = result
  print(
    result,
    json,
    () =>
      `${records} records, ${inserted} of them missing in the database; ` +
      `${deletedAgain} subjects were deleted again`,
  )
}
