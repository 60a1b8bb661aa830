import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ConsoleSubject } from '../../api/responses.ts'
import { ShortId } from '../../components/names/short-id.tsx'
import { SubjectName } from '../../components/names/subject-name.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { formatCount } from '../../format/numbers.ts'
import type { Column } from '../../lists/data-table.tsx'

/** The column with the picture and the name. */
export function nameColumn(
  thumbnailOf: (subject: ConsoleSubject) => ReactNode,
): Column<ConsoleSubject> {
  return {
    name: 'Name',
    sort: 'name',
    renderCell: (subject) => (
      <Group gap="xs" wrap="nowrap">
        {thumbnailOf(subject)}
        <SubjectName subject={subject} />
      </Group>
    ),
  }
}

export const subjectColumns: readonly Column<ConsoleSubject>[] = [
  { name: 'External id', isMonospace: true, renderCell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', renderCell: ({ groups }) => groups.join(', ') || '–' },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  {
    name: 'Enrolled',
    sort: '-created',
    renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} />,
  },
  {
    name: 'Last seen',
    sort: '-seen',
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} />,
  },
  {
    name: 'Expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="Never" />,
  },
  {
    name: 'Subject id',
    renderCell: ({ subjectId }) => <ShortId label="subject id" id={subjectId} />,
  },
]
