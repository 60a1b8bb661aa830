import { Button } from '@mantine/core'
import type { UserSession } from '../api/responses.ts'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'

type Props = {
  readonly caption: string
  readonly sessions: readonly UserSession[]
  readonly onEnd: (session: UserSession) => void
}

/** Open sessions of a user, each with a button that ends it. */
export function SessionTable({ caption, sessions, onEnd }: Props) {
  return (
    <DataTable
      caption={caption}
      rows={sessions}
      rowKey={({ sessionId }) => sessionId}
      columns={[...columns, endColumn(onEnd)]}
      empty="The user has no open session."
    />
  )
}

const columns: readonly Column<UserSession>[] = [
  { name: 'Browser', renderCell: ({ userAgent }) => browserName(userAgent) },
  { name: 'IP address', isMonospace: true, renderCell: ({ ip }) => ip || '–' },
  { name: 'Signed in', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Last used',
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} />,
  },
]

function endColumn(onEnd: (session: UserSession) => void): Column<UserSession> {
  return {
    name: 'Actions',
    renderCell: (session) =>
      session.isCurrent ? (
        <StatusTag tone="ok">this session</StatusTag>
      ) : (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`End the session of ${browserName(session.userAgent)}`}
          onClick={() => onEnd(session)}
        >
          End
        </Button>
      ),
  }
}

/** Browsers by a part of their User-Agent, the most specific first. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'] as const

/** Returns the browser and the system of a User-Agent header, or its first words. */
function browserName(userAgent: string): string {
  const browser = browsers.find(([part]) => userAgent.includes(part))?.[1]
  const system = systems.find((name) => userAgent.includes(name))
  const known = [browser, system].filter((name) => name !== undefined)
  return known.length > 0 ? known.join(', ') : userAgent.slice(0, 40) || 'Unknown'
}
