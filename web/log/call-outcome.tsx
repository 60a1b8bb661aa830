import type { CallLogEntry } from '../api/responses.ts'
import { StatusTag, type StatusTone } from '../components/status-tag.tsx'

type LoggedOutcome = NonNullable<CallLogEntry['outcome']>

/** The outcomes of calls in words. */
export const outcomeTexts: Readonly<Record<LoggedOutcome, string>> = {
  match: 'match',
  no_match: 'no match',
  ambiguous: 'ambiguous',
  live: 'live',
  spoof: 'spoof',
  uncertain: 'uncertain',
  passed: 'passed',
  failed: 'failed',
}

/** The colours of outcomes. */
export const outcomeTones: Readonly<Record<LoggedOutcome, StatusTone>> = {
  match: 'ok',
  no_match: 'plain',
  ambiguous: 'warn',
  live: 'ok',
  spoof: 'bad',
  uncertain: 'warn',
  passed: 'ok',
  failed: 'bad',
}

type LoggedDecision = Pick<
  CallLogEntry,
  'outcome' | 'nearMiss' | 'similarity' | 'livenessScore' | 'threshold' | 'margin'
>

/** What a call decided, in one line: its score and the threshold, and the lead on the next person. */
export function CallOutcome({ call }: { readonly call: LoggedDecision }) {
  const { outcome, nearMiss, similarity, livenessScore, threshold, margin } = call
  if (outcome === null) return null
  const score = similarity ?? livenessScore
  const facts = [
    score !== null &&
      threshold !== null &&
      `${score.toFixed(3)} ${score < threshold ? '<' : '≥'} ${threshold.toFixed(2)}`,
    margin !== null && `+${margin.toFixed(3)}`,
  ].filter((fact) => fact !== false)
  return (
    <span className="fg-row-line">
      <StatusTag tone={nearMiss ? 'warn' : outcomeTones[outcome]}>
        {nearMiss ? 'near miss' : outcomeTexts[outcome]}
      </StatusTag>{' '}
      {facts.length > 0 && <span className="fg-mono">{facts.join(' · ')}</span>}
    </span>
  )
}
