import { parseArgs } from 'node:util'
import { json } from './admin.ts'
import { UsageError, type Command } from './command.ts'
import { listEntries, type Entry } from './import/entries.ts'
import { openJournal } from './import/journal.ts'
import { createSender, type Sent } from './import/send.ts'
import { progressBar } from './progress.ts'

const text = { type: 'string' } as const

export const importFaces: Command = {
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

const atOnceMax = 32

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
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > atOnceMax)
    throw new UsageError(`--at-once is a whole number from 1 to ${atOnceMax}`)
  const send = createSender({ url: values.url, key, group: values.group })
  const entries = await listEntries(source)
  const report = await importAll(entries, { send, atOnce, journalFile: values.journal })
  tell(report, values.json)
}

type Importing = {
  readonly send: (entry: Entry) => Promise<Sent>
  readonly atOnce: number
  readonly journalFile: string
}

type Report = {
  readonly enrolled: number
  readonly skipped: number
  readonly refused: (Sent & { readonly file: string })[]
}

/** A few at once; what the journal knows as done is not sent again. */
async function importAll(entries: readonly Entry[], importing: Importing): Promise<Report> {
  const journal = await openJournal(importing.journalFile)
  const left = entries.filter((entry) => !journal.isDone(entry))
  const refused: Report['refused'] = []
  const bar = progressBar('pictures')
  let done = 0
  const queue = left.values()
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      const sent = await importing.send(entry)
      await journal.note(entry, sent)
      if (!sent.ok) refused.push({ file: entry.file, ...sent })
      bar.update(++done, left.length)
    }
  }
  await Promise.all(Array.from({ length: importing.atOnce }, work))
  bar.end()
  const skipped = entries.length - left.length
  return { enrolled: left.length - refused.length, skipped, refused }
}

function tell(report: Report, isJson: boolean): void {
  if (isJson) return console.log(json(report))
  for (const { file, code, message } of report.refused) console.log(`${file}: ${code}: ${message}`)
  const { enrolled, skipped, refused } = report
  console.log(`${enrolled} enrolled, ${refused.length} refused, ${skipped} done before`)
}
