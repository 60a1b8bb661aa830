import { Group, Text } from '@mantine/core'
import type { ConsoleVisitor } from '../../api/responses.ts'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatQuantity } from '../../format/numbers.ts'
import { shortIdOf } from '../../format/subject-name.ts'
import { SubjectThumbnail, useCroppedFaces } from '../subjects/subject-thumbnail.tsx'

type Props = {
  readonly projectId: string
  /** With a similarity, if it was searched for. */
  readonly visitor: ConsoleVisitor
}

/** A visitor in a dialog: its face, its short id, and when it was seen. */
export function VisitorSummary({ projectId, visitor }: Props) {
  const { visitorId, visitCount, lastSeenAtUtc, similarity } = visitor
  return (
    <Group gap="sm" wrap="nowrap">
      <SubjectThumbnail
        projectId={projectId}
        subjectId={visitorId}
        faceId={useCroppedFaces(projectId, [visitorId]).get(visitorId)?.[0]}
        sizePx={72}
      />
      <Text size="sm" component="div">
        <Text fw={600}>Visitor {shortIdOf(visitorId)}</Text>
        {formatQuantity(visitCount, 'picture')}, last seen <UtcTime timestampUtc={lastSeenAtUtc} />
        {similarity !== undefined && <div>Similarity {similarity.toFixed(2)}</div>}
      </Text>
    </Group>
  )
}
