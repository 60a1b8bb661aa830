import { Stack, Text, Title } from '@mantine/core'
import type { ConsoleSubject } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { UtcTime } from '../../components/utc-time.tsx'
import type { NamedSubject } from '../../format/subject-name.ts'
import { useSubjects } from '../subjects/use-subjects.ts'
import { CheckStatus } from './check-status.tsx'
import { SubjectIssues } from './subject-issues.tsx'
import { useGalleryCheck } from './use-gallery-check.ts'

type Props = {
  readonly projectId: string
  readonly subject: ConsoleSubject
  readonly croppedFaces: readonly string[]
}

/** The most subjects that the results of a check contain. */
const resultsMax = 1_000

/** What the last check of the gallery found about a subject. */
export function SubjectHealth({ projectId, subject, croppedFaces }: Props) {
  const mayWrite = useHasRole('admin')
  const check = useGalleryCheck(projectId)
  const { measured } = check
  const health = measured?.results.find(({ subjectId }) => subjectId === subject.subjectId)
  const others = useSubjects(
    projectId,
    health
      ? [...health.lookAlikes, ...health.pictures.flatMap(({ belongsTo }) => belongsTo ?? [])].map(
          ({ subjectId }) => subjectId,
        )
      : [],
  )
  const named = (other: NamedSubject): NamedSubject =>
    others.data?.items.find(({ subjectId }) => subjectId === other.subjectId) ?? other
  return (
    <Stack gap="sm" component="section" aria-label="Health">
      <Title order={3}>Health</Title>
      {!measured && mayWrite && <CheckStatus check={check} />}
      {!measured && !mayWrite && (
        <Text size="sm">There is no check of the gallery of the last 15 minutes.</Text>
      )}
      {measured && (
        <Text size="xs" c="dimmed">
          Gallery checked <UtcTime timestampUtc={measured.checkedAtUtc} /> UTC.
        </Text>
      )}
      {health && (
        <SubjectIssues
          projectId={projectId}
          subject={subject}
          health={health}
          croppedFaces={croppedFaces}
          named={named}
        />
      )}
      {measured && !health && <Text size="sm">{noIssueText(measured, subject)}</Text>}
    </Stack>
  )
}

function noIssueText(
  {
    results,
    checkedAtUtc,
  }: { readonly results: readonly unknown[]; readonly checkedAtUtc: string },
  { createdAtUtc }: ConsoleSubject,
): string {
  if (createdAtUtc > checkedAtUtc) return 'The person was enrolled after the check.'
  return results.length < resultsMax
    ? 'The check found no issue.'
    : `The person is not among the ${resultsMax} subjects with the most urgent issues.`
}
