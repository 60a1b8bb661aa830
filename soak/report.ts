import { markdownTable } from '../bench/support/table.ts'
import { judgeDrift, judgeFlat, judgeMemory, measuredPeriod, type Verdict } from './limits.ts'
import { latencyDrift, latencyKinds, type Drift } from './measure/latencies.ts'
import type { ProcessSeries } from './measure/process-samples.ts'
import type { SoakResult } from './run-soak.ts'

export type SoakReport = { readonly text: string; readonly ok: boolean }

/** Judges a run by the limits. */
export function reportSoak(result: SoakResult): SoakReport {
  const period = periodOf(result)
  const sections = [
    processSection(result, period),
    latencySection(result, period),
    answerSection(result),
    dataSection(result),
  ]
  return {
    text: sections.map(({ text }) => text).join('\n\n'),
    ok: sections.every(({ ok }) => ok),
  }
}

type Period = readonly [fromMs: number, toMs: number]

/** The period after the warm-up of the last process of the server. */
function periodOf({ sampler, lastPid, loadEndMs }: SoakResult): Period {
  const startMs = sampler.series.get(lastPid)?.samples[0]?.atMs ?? loadEndMs
  return measuredPeriod(startMs, loadEndMs)
}

function processSection({ sampler, loadEndMs }: SoakResult, period: Period): SoakReport {
  let ok = true
  const rows = [...sampler.series.values()].flatMap((series) => {
    const measured = series.samples.filter(({ atMs }) => atMs >= warmMs(series, loadEndMs))
    const memory = judgeMemory(measured)
    if (!memory) return []
    const fds = judgeFlat(measured.map((sample) => sample.fds))
    const threads = judgeFlat(measured.map((sample) => sample.threads))
    ok &&= memory.ok && fds.ok && threads.ok
    const firstMib = (measured[0]?.rssBytes ?? 0) / 1024 / 1024
    const lastMib = (measured.at(-1)?.rssBytes ?? 0) / 1024 / 1024
    return [
      [
        `${series.name} ${series.pid}`,
        minutes(memory.slope.windowMs),
        `${firstMib.toFixed(0)} → ${lastMib.toFixed(0)}`,
        cell(memory),
        memory.limit,
        cell(fds),
        cell(threads),
      ],
    ]
  })
  const unmeasured = sampler.series.size - rows.length
  const handles = sampler.handles.filter(({ atMs }) => atMs >= period[0] && atMs <= period[1])
  const handleVerdict = judgeFlat(handles.map((sample) => sample.handles))
  const head = ['process', 'minutes', 'RSS, MiB', 'RSS slope', 'limit', 'descriptors', 'threads']
  const text = [
    markdownTable(head, rows),
    `${unmeasured} further processes ended before their memory could be judged.`,
    ...(rows.length === 0 ? ['The run was too short to judge the memory of a process.'] : []),
    `Active handles of the server: ${cell(handleVerdict)} (${handleVerdict.limit})`,
  ].join('\n')
  return { text, ok: ok && handleVerdict.ok && rows.length > 0 }
}

/** The first hour of a process is its warm-up, or half of its life if that is shorter. */
function warmMs({ samples }: ProcessSeries, loadEndMs: number): number {
  const startMs = samples[0]?.atMs ?? loadEndMs
  return measuredPeriod(startMs, samples.at(-1)?.atMs ?? startMs)[0]
}

function latencySection({ latencies }: SoakResult, period: Period): SoakReport {
  const drifts = new Map(
    latencyKinds.map((kind) => [kind, latencyDrift(latencies.of(kind), period)]),
  )
  const reference = latencyDrift(latencies.of('reference'), period)
  let ok = true
  const rows = [...drifts].map(([kind, drift]) => {
    const isReference = kind === 'reference'
    const verdict = judgeDrift(drift, reference, period[1] - period[0])
    ok &&= isReference || verdict.ok
    return [
      kind,
      String(drift.count),
      quantileCell(drift, 'p50Ms'),
      quantileCell(drift, 'p99Ms'),
      isReference ? verdict.measured : cell(verdict),
      isReference ? '' : verdict.limit,
    ]
  })
  const head = ['latency, first → last third', 'calls', 'p50, ms', 'p99, ms', 'drift', 'limit']
  return { text: markdownTable(head, rows), ok }
}

function quantileCell({ first, last }: Drift, quantile: 'p50Ms' | 'p99Ms'): string {
  return `${first[quantile].toFixed(1)} → ${last[quantile].toFixed(1)}`
}

function answerSection({ record, counts, skipped }: SoakResult): SoakReport {
  const answers = [...record.answers].toSorted(([, a], [, b]) => b - a)
  const text = [
    markdownTable(
      ['answer', 'count'],
      answers.map(([answer, count]) => [answer, String(count)]),
    ),
    `Faults: ${counts.workerKills} killed vision workers, ${counts.serverKills} killed servers, ` +
      `${counts.drains} drained servers. Calls not sent because of too many in flight: ${skipped}.`,
    ...record.violations.map((violation) => `VIOLATION: ${violation}`),
  ].join('\n')
  return { text, ok: record.violations.length === 0 }
}

function dataSection({ record, data }: SoakResult): SoakReport {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['acknowledged calls or subjects lost', data.lost],
    ['requests billed twice', data.doubleBilled],
    ['rejected requests billed', data.wronglyBilled],
    ['deleted subjects that returned', data.returned],
    ['broken audit rules of L1 to L9', data.brokenRules],
  ]
  const table = markdownTable(
    ['data', 'count', 'examples'],
    rows.map(([name, found]) => [name, String(found.length), found.slice(0, 3).join('; ')]),
  )
  const text =
    `${record.acknowledged.size} acknowledged calls with a price, ${record.rejected.size} rejected, ` +
    `${record.deletedAtMs.size} deletions, ${record.subjects.length} subjects left.\n${table}`
  return { text, ok: rows.every(([, found]) => found.length === 0) }
}

function cell({ measured, ok }: Verdict): string {
  return ok ? measured : `**${measured} OVER THE LIMIT**`
}

function minutes(ms: number): string {
  return (ms / 60_000).toFixed(0)
}
