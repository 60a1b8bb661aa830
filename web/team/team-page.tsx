import { Button } from '@mantine/core'
import { useState } from 'react'
import { useHasRole, useSignedInSession } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { Page } from '../layout/page.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { InviteUserDialog } from './invite-user-dialog.tsx'
import { EditUserDialog } from './edit-user-dialog.tsx'
import type { TeamMember } from '../api/responses.ts'

/** Who may use the console, and as what. */
export function TeamPage() {
  const asked = useApiQuery('/users')
  const mayWrite = useHasRole('owner')
  const { user: me } = useSignedInSession()
  const [isInviting, setIsInviting] = useState(false)
  const [chosen, setChosen] = useState<TeamMember>()
  return (
    <Page
      title="Team"
      description="Owners do everything. Admins do everything but users and prices. Viewers look. Every act is written down."
      actions={
        <>
          <LinkButton to="/team/audit" variant="default" size="sm">
            Audit
          </LinkButton>
          {mayWrite && (
            <Button size="sm" onClick={() => setIsInviting(true)}>
              Invite
            </Button>
          )}
        </>
      }
    >
      <div className="fg-panel">
        <QueryContent query={asked}>
          {({ items }) => (
            <DataTable
              caption="Users"
              rows={items}
              rowKey={({ userId }) => userId}
              columns={mayWrite ? [...columns, changeColumn(me.userId, setChosen)] : columns}
              empty={null}
            />
          )}
        </QueryContent>
      </div>
      {isInviting && <InviteUserDialog onClose={() => setIsInviting(false)} />}
      {chosen && <EditUserDialog user={chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  )
}

const columns: readonly Column<TeamMember>[] = [
  { name: 'Name', renderCell: ({ name }) => name },
  { name: 'Role', renderCell: ({ role }) => role },
  {
    name: 'State',
    renderCell: ({ disabled }) => (
      <StatusTag tone={disabled ? 'bad' : 'ok'}>{disabled ? 'shut out' : 'active'}</StatusTag>
    ),
  },
  { name: 'Made', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Last seen',
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} fallback="not yet" />,
  },
]

function changeColumn(ownId: string, onChoose: (user: TeamMember) => void): Column<TeamMember> {
  return {
    name: 'Actions',
    renderCell: (user) =>
      user.userId === ownId ? (
        'you'
      ) : (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Change ${user.name}`}
          onClick={() => onChoose(user)}
        >
          Change
        </Button>
      ),
  }
}
