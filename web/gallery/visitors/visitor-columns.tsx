import { Group } from '@mantine/core'
import type { ConsoleVisitor } from '../../api/responses.ts'
import { ShortId } from '../../components/names/short-id.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'
import type { Column } from '../../lists/data-table.tsx'
import { SubjectThumbnail } from '../subjects/subject-thumbnail.tsx'

/** The column with the face, if crops are stored, and the id. */
export function faceColumn(
  projectId: string,
  crops: ReadonlyMap<string, readonly string[]>,
): Column<ConsoleVisitor> {
  return {
    name: 'Visitor',
    renderCell: ({ visitorId }) => (
      <Group gap="xs" wrap="nowrap">
        <SubjectThumbnail
          projectId={projectId}
          subjectId={visitorId}
          faceId={crops.get(visitorId)?.[0]}
          sizePx={36}
        />
        <ShortId label="visitor id" id={visitorId} />
      </Group>
    ),
  }
}

export const visitorColumns: readonly Column<ConsoleVisitor>[] = [
  {
    name: 'Pictures',
    sort: '-visits',
    align: 'right',
    renderCell: ({ visitCount }) => formatCount(visitCount),
  },
  {
    name: 'Last seen',
    sort: '-seen',
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} />,
  },
  {
    name: 'First seen',
    renderCell: ({ firstSeenAtUtc }) => <UtcTime timestampUtc={firstSeenAtUtc} />,
  },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  { name: 'Events', renderCell: ({ ignored }) => (ignored ? 'None: ignored' : 'Sent') },
]
