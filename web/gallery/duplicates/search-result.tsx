import { Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PlaygroundResponse, PlaygroundSettings } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import type { ActionValues, CandidateValue } from '../../playground/result/action-values.ts'
import type { ResultEnvelope } from '../../playground/result/envelope.ts'
import { FailureCard } from '../../playground/result/failure-card.tsx'
import { useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { CandidateRow } from './candidate-row.tsx'

type FoundSubjects = ActionValues['svc.identify']

type Props = {
  readonly projectId: string
  /** The response to a call of svc.identify. */
  readonly response: PlaygroundResponse
  readonly settings: PlaygroundSettings
  readonly candidatesOf: (value: FoundSubjects) => readonly CandidateValue[]
  /** Whether each row states if it reaches the threshold. */
  readonly withThreshold?: boolean
  readonly onOpen: (subjectId: string) => void
  readonly onMerge?: (subjectId: string) => void
  /** What stands above the candidates. */
  readonly children: (value: FoundSubjects) => ReactNode
}

/** The candidates of a search, or why it failed. */
export function SearchResult({ response, candidatesOf, withThreshold, children, ...props }: Props) {
  const errors = useApiQuery('/errors')
  // The server validates its responses with the schema of the action.
  const { ok, errors: problems = [], data } = response.envelope as ResultEnvelope
  const value = data?.results[0]?.value as unknown as FoundSubjects | undefined
  const candidates = value ? candidatesOf(value) : []
  const crops = useCroppedFaces(
    props.projectId,
    candidates.map(({ subjectId }) => subjectId),
  )
  if (!ok || !value)
    return (
      <FailureCard
        title="The search failed"
        problems={problems}
        remedyOf={(code) => errors.data?.find((error) => error.code === code)?.remedy}
      />
    )
  return (
    <output>
      <Stack gap="sm">
        {children(value)}
        {candidates.map((candidate) => (
          <CandidateRow
            key={candidate.subjectId}
            {...props}
            candidate={candidate}
            faceId={crops.get(candidate.subjectId)?.[0]}
            {...(withThreshold && { threshold: value.threshold })}
          />
        ))}
      </Stack>
    </output>
  )
}
