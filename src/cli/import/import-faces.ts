import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { Interruption, createProgressBar, toJson } from '../command.ts'
import { type ServiceAccess, requireService } from '../context/saved-context.ts'
import {
  type EnrollResult,
  LastingFailure,
  checkService,
  createEnrollSender,
} from './enroll-sender.ts'
import { type ImportOptions, resumeCommand } from './import-options.ts'
import { type ImportPace, type StatedLimit, createImportPace } from './import-pace.ts'
import { type ImportEntry, listImportEntries, parseJsonText } from './list-entries.ts'
import { quantity } from '../quantity.ts'

/**
 * Enrolls the images of a folder or a list that the journal does not record as enrolled.
 *
 * @throws Interruption after Ctrl-C, and Error when an image was refused or the import ended early.
 */
export async function importFaces(options: ImportOptions): Promise<void> {
  const service = requireService(options)
  const entries = await listImportEntries(options.source)
  const { projectId, limit } = await checkService(service)
  const journal = await openImportJournal(options.journal, projectId)
  const pending = entries.filter((entry) => !journal.isDone(entry))
  const stop = new AbortController()
  const interrupt = (): void => {
    console.error(
      '\nfacegate: waiting for the images that are being enrolled; Ctrl-C again ends now',
    )
    stop.abort(new Interruption('interrupted'))
  }
  process.once('SIGINT', interrupt)
  try {
    const counts =
      pending.length === 0
        ? { enrolled: 0, refused: [], remaining: 0 }
        : await enrollAll(pending, { options, service, limit, journal, stop })
    finish({ ...counts, skipped: entries.length - pending.length }, options, stop)
  } finally {
    process.off('SIGINT', interrupt)
  }
}

/** Prints the rate of the import. */
function preparePace(limit: StatedLimit | undefined, rate?: number): ImportPace {
  const perS = Math.min(rate ?? Infinity, limit?.sustainedPerS ?? Infinity)
  console.error(`rate: ${describeRate(rate, limit)}`)
  return createImportPace(Number.isFinite(perS) ? perS : undefined, (learned) => {
    console.error(`rate: ${learned} images per second, from an answer RATE_LIMITED`)
  })
}

function describeRate(rate: number | undefined, limit: StatedLimit | undefined): string {
  if (!limit)
    return rate === undefined
      ? 'not limited, because the service does not state the limit of the project'
      : `${rate} images per second (--rate)`
  const { sustainedPerS } = limit
  if (rate === undefined) return `${sustainedPerS} images per second, the limit of the project`
  return rate > sustainedPerS
    ? `${sustainedPerS} images per second, the limit of the project; --rate ${rate} is above it`
    : `${rate} images per second (--rate); the project allows ${sustainedPerS}`
}

type EnrollAllOptions = {
  readonly options: ImportOptions
  readonly service: ServiceAccess
  readonly limit: StatedLimit | undefined
  readonly journal: ImportJournal
  /** Aborted with the reason, which ends the import. */
  readonly stop: AbortController
}

async function enrollAll(
  pending: readonly ImportEntry[],
  { options, service, limit, journal, stop }: EnrollAllOptions,
) {
  const pace = preparePace(limit, options.rate)
  const { groups = [], 'face-policy': facePolicy } = options
  const { signal } = stop
  const enroll = createEnrollSender({ ...service, groups, facePolicy, pace, signal })
  const refused: (EnrollResult & { readonly file: string })[] = []
  const bar = createProgressBar('images')
  let done = 0
  const queue = pending.values()
  const work = async (): Promise<void> => {
    for (const entry of queue) {
      const result = await enroll(entry).catch((error: unknown) => stop.abort(error))
      if (!result) return
      await journal.record(entry, result)
      if (!result.ok) refused.push({ file: entry.file, ...result })
      bar.update(++done, pending.length)
      if (signal.aborted) return
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, work))
  bar.end()
  // `remaining` are the images that were not sent.
  return { enrolled: done - refused.length, refused, remaining: pending.length - done }
}

type ImportReport = Awaited<ReturnType<typeof enrollAll>> & { readonly skipped: number }

/** Prints the report. @throws Error unless every image is enrolled. */
function finish(report: ImportReport, options: ImportOptions, { signal }: AbortController): void {
  printReport(report, options)
  const { refused, remaining } = report
  if (signal.aborted) {
    const reason: unknown = signal.reason
    const resume = `${quantity(remaining, 'image')} left; resume with: ${resumeCommand(options)}`
    if (reason instanceof Interruption) throw new Interruption(`interrupted; ${resume}`)
    if (!(reason instanceof LastingFailure)) throw reason
    throw new Error(`${reason.message}\n${resume}`)
  }
  if (refused.length > 0)
    throw new Error(
      `refused: ${quantity(refused.length, 'image')}; correct what is wrong, then run: ${resumeCommand(options)}`,
    )
}

function printReport(report: ImportReport, { json, journal }: ImportOptions): void {
  if (report.skipped > 0)
    console.error(
      `${quantity(report.skipped, 'image')} not sent: enrolled in this project before by ${journal}; to send all images, pass another --journal`,
    )
  if (json) return console.log(toJson(report))
  for (const { file, code, message } of report.refused) console.log(`${file}: ${code}: ${message}`)
  const { enrolled, skipped, refused, remaining } = report
  const rest = remaining === 0 ? '' : `, ${remaining} not sent`
  console.log(`${enrolled} enrolled, ${refused.length} refused, ${skipped} done before${rest}`)
}

/** The results of an import so far, one JSON object per line. */
type ImportJournal = Awaited<ReturnType<typeof openImportJournal>>

const lineSchema = z.object({
  projectId: z.string(),
  file: z.string(),
  externalId: z.string(),
  ok: z.boolean(),
})

/**
 * Rejected images do not count as done: the configuration of the server may change. Neither do those
 * that were enrolled in another project.
 */
async function openImportJournal(journalFile: string, projectId: string) {
  const done = new Set<string>()
  const keyOf = ({ file, externalId }: Pick<ImportEntry, 'file' | 'externalId'>): string =>
    JSON.stringify([file, externalId])
  const recorded = existsSync(journalFile) ? await readFile(journalFile, 'utf8') : ''
  const start = '{"projectId":'
  if (!start.startsWith(recorded.slice(0, start.length)))
    throw new Error(`--journal: ${journalFile} is not a journal of an import; name another file`)
  for (const line of recorded.split('\n')) {
    // An interrupted import can leave an incomplete line.
    const result = parseJsonText(lineSchema, line)
    if (result?.ok && result.projectId === projectId) done.add(keyOf(result))
  }
  return {
    isDone: (entry: ImportEntry): boolean => done.has(keyOf(entry)),
    record: ({ file, externalId }: ImportEntry, result: EnrollResult): Promise<void> =>
      appendFile(journalFile, `${JSON.stringify({ projectId, file, externalId, ...result })}\n`),
  }
}
