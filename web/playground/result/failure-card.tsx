import { Stack } from '@mantine/core'
import { ProblemFacts } from '../../components/problem-facts.tsx'
import type { ResultProblem } from './envelope.ts'
import { VerdictLine } from './verdict-line.tsx'

type Props = {
  readonly title: string
  readonly problems: readonly ResultProblem[]
  /** Returns the general remedy of an error code. */
  readonly remedyOf: (code: string) => string | undefined
}

/** Why a call or one of its images failed, and what to change. */
export function FailureCard({ title, problems, remedyOf }: Props) {
  return (
    <Stack gap="sm">
      <VerdictLine tone="bad" text={title} />
      {problems.map((problem) => (
        <ProblemFacts
          key={`${problem.code} ${problem.path ?? ''} ${problem.message}`}
          problem={{ ...problem, hint: problem.hint ?? remedyOf(problem.code) }}
        />
      ))}
    </Stack>
  )
}
