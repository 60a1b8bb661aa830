import { parseArgs } from 'node:util'
import { toJson } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'
import { listImportEntries, type ImportEntry } from './list-entries.ts'
import { openImportJournal } from './import-journal.ts'
import { createEnrollSender, type EnrollResult } from './enroll-sender.ts'
import { createProgressBar } from '../progress-bar.ts'

const text = { type: 'string' } as const

export const importFaces: CliCommand = {
  name: 'import',
  summary: 'enroll a folder of pictures, or a list of them, through the API',
  usage: `facegate import <folder|list.csv> [--url http://127.0.0.1:8080] [--key fsk_…]
                [--group name] [--at-once n] [--journal file] [--json]

  A folder holds a folder for each person, named as the externalId shall be, or the
  pictures themselves, each a person. A list has the columns file and externalId (or
  subject, as lists of CompreFace have it), and if you like displayName and groups
  (separated by spaces); files are beside the list.
  The key is taken from FACEGATE_KEY where --key is not given.
  What was done is noted in the journal (default facegate-import.jsonl): run the same
  command again, and only what is left is sent. Refusals are told at the end.`,
  run,
}

const concurrencyMax = 32

async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { ...text, default: 'http://127.0.0.1:8080' },
      key: text,
      group: text,
      'at-once': { ...text, default: '4' },
      journal: { ...text, default: 'facegate-import.jsonl' },
      json: { type: 'boolean', default: false },
    },
  })
  const [source, ...rest] = positionals
  if (source === undefined || rest.length > 0) throw new UsageError('name one folder or list')
  const key = values.key ?? process.env['FACEGATE_KEY']
  if (key === undefined) throw new UsageError('give a key with --key or in FACEGATE_KEY')
  const atOnce = Number(values['at-once'])
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > concurrencyMax)
    throw new UsageError(`--at-once is a whole number from 1 to ${concurrencyMax}`)
  const send = createEnrollSender({ url: values.url, key, group: values.group })
  const entries = await listImportEntries(source)
  const report = await importAll(entries, {
    enroll: send,
    concurrency: atOnce,
    journalFile: values.journal,
  })
  printReport(report, values.json)
}

type ImportOptions = {
  readonly enroll: (entry: ImportEntry) => Promise<EnrollResult>
  readonly concurrency: number
  readonly journalFile: string
}

type ImportReport = {
  readonly enrolled: number
  readonly skipped: number
  readonly refused: (EnrollResult & { readonly file: string })[]
}

/** A few at once; what the journal knows as done is not sent again. */
async function importAll(
  entries: readonly ImportEntry[],
  importing: ImportOptions,
): Promise<ImportReport> {
  const journal = await openImportJournal(importing.journalFile)
  const left = entries.filter((entry) => !journal.isDone(entry))
  const refused: ImportReport['refused'] = []
  const bar = createProgressBar('pictures')
  let done = 0
  const queue = left.values()
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      const sent = await importing.enroll(entry)
      await journal.record(entry, sent)
      if (!sent.ok) refused.push({ file: entry.file, ...sent })
      bar.update(++done, left.length)
    }
  }
  await Promise.all(Array.from({ length: importing.concurrency }, work))
  bar.end()
  const skipped = entries.length - left.length
  return { enrolled: left.length - refused.length, skipped, refused }
}

function printReport(report: ImportReport, isJson: boolean): void {
  if (isJson) return console.log(toJson(report))
  for (const { file, code, message } of report.refused) console.log(`${file}: ${code}: ${message}`)
  const { enrolled, skipped, refused } = report
  console.log(`${enrolled} enrolled, ${refused.length} refused, ${skipped} done before`)
}
