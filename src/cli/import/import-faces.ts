import { UsageError, type CliCommand } from '../command.ts'
import { parseArguments, requireArgument, requireOption, text } from '../options.ts'
import { toJson } from '../output.ts'
import { createProgressBar } from '../progress-bar.ts'
import { createEnrollSender, type EnrollResult } from './enroll-sender.ts'
import { openImportJournal } from './import-journal.ts'
import { listImportEntries, type ImportEntry } from './list-entries.ts'

export const importFaces: CliCommand = {
  name: 'import',
  summary: 'enroll a folder or a list of images through the API',
  usage: `facegate import <folder|list.csv> [--url http://127.0.0.1:8080] [--key fsk_…]
                [--group name] [--concurrency n] [--journal file] [--json]

  <folder> contains one folder per person, named by the externalId; or images, one per
  person, named by the externalId. <list.csv> has the columns file and externalId (or
  subject, as in lists of CompreFace), and optionally displayName and groups (separated
  by spaces). Its files are relative to the list.
  --key: without it, the key is read from FACEGATE_KEY.
  --concurrency: number of parallel requests, 1 to 32 (default: 4).
  --journal: file that records finished images (default: facegate-import.jsonl). Run the
  same command again, and only the remaining images are sent. Rejected images are listed
  at the end.`,
  run,
}

const concurrencyMax = 32

async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    key: text,
    group: text,
    concurrency: { type: 'string', default: '4' },
    journal: { type: 'string', default: 'facegate-import.jsonl' },
  })
  const source = requireArgument(positionals, '<folder|list.csv>')
  const key = requireOption(
    values.key ?? process.env['FACEGATE_KEY'],
    'the API key',
    '--key <key>, or set FACEGATE_KEY',
  )
  const concurrency = Number(values.concurrency)
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > concurrencyMax)
    throw new UsageError(`--concurrency must be a whole number from 1 to ${concurrencyMax}`)
  const enroll = createEnrollSender({ url: values.url, key, group: values.group })
  const entries = await listImportEntries(source)
  const report = await importAll(entries, { enroll, concurrency, journalFile: values.journal })
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

/** Enrolls the entries that the journal does not record as done. */
async function importAll(
  entries: readonly ImportEntry[],
  { enroll, concurrency, journalFile }: ImportOptions,
): Promise<ImportReport> {
  const journal = await openImportJournal(journalFile)
  const pending = entries.filter((entry) => !journal.isDone(entry))
  const refused: ImportReport['refused'] = []
  const bar = createProgressBar('images')
  let done = 0
  const queue = pending.values()
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      const result = await enroll(entry)
      await journal.record(entry, result)
      if (!result.ok) refused.push({ file: entry.file, ...result })
      bar.update(++done, pending.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  bar.end()
  const skipped = entries.length - pending.length
  return { enrolled: pending.length - refused.length, skipped, refused }
}

function printReport(report: ImportReport, isJson: boolean): void {
  if (isJson) return console.log(toJson(report))
  for (const { file, code, message } of report.refused) console.log(`${file}: ${code}: ${message}`)
  const { enrolled, skipped, refused } = report
  console.log(`${enrolled} enrolled, ${refused.length} rejected, ${skipped} done before`)
}
