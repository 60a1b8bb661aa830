import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  exportDeletions,
  type ExportDeletionsResult,
} from '../../gallery/deletion/export-deletions.ts'
import { replayDeletions } from '../../gallery/deletion/replay-deletions.ts'
import { toJson, print, subcommands, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

export const deletions: CliCommand = {
  name: 'deletions',
  summary: 'keep deletion records elsewhere, delete again whoever a restored copy brings back',
  usage: `facegate deletions export --to <file> [--every <seconds>] [--json]
facegate deletions replay --from <file> [--json]

  export adds to the file every record that it does not have yet; with --every it goes
  on doing so until it is told to end. Keep the file elsewhere than the database.
  replay is for a database that was restored from an older copy, before a server is
  started on it: whoever the file names is deleted again, and the records of then are
  entered as they were. It may be run again.`,
  run: subcommands({ export: exportTo, replay: replayFrom }),
}

const text = { type: 'string' } as const
const isJson = { type: 'boolean', default: false } as const

async function exportTo(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { to: text, every: text, json: isJson },
  })
  const { to: file, every } = values
  if (file === undefined) throw new UsageError('name the file with --to')
  if (every !== undefined && !/^[1-9]\d{0,4}$/u.test(every))
    throw new UsageError('--every is a whole number of seconds')
  const say = (done: ExportDeletionsResult): void =>
    print(done, values.json, () => `${done.added} records added, ${done.records} in ${file}`)
  await withStore(async (store) => {
    say(await exportDeletions(store, file))
    if (every !== undefined)
      await repeat(Number(every) * 1000, async () => {
        const done = await exportDeletions(store, file)
        if (done.added > 0) say(done)
      })
  })
}

/** A database that does not answer for a while is asked again; the file has lost nothing meanwhile. */
async function repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort())
  process.once('SIGINT', () => ending.abort())
  while (!ending.signal.aborted) {
    await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined)
    await work().catch((error: unknown) => console.error(`facegate: ${toJson(String(error))}`))
  }
}

async function replayFrom(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { from: text, json: isJson } })
  const { from: file } = values
  if (file === undefined) throw new UsageError('name the file with --from')
  const done = await withStore((store) => replayDeletions(store, file))
  print(
    done,
    values.json,
    () =>
      `of ${done.records} records ${done.inserted} were not there, ${done.deletedAgain} subjects were deleted again`,
  )
}
