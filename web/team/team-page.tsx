import { Button, Group } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
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
import { RevokeLinkDialog } from './revoke-link-dialog.tsx'
import type { TeamMember } from '../api/responses.ts'

const route = getRouteApi('/team')

/** The users of the console and their roles. */
export function TeamPage() {
  const query = useApiQuery('/users')
  const mayWrite = useHasRole('owner')
  const { user: currentUser } = useSignedInSession()
  const [isInviting, setIsInviting] = useState(false)
  const [selectedId, setSelectedId] = useState<string>()
  const selected = query.data?.items.find(({ userId }) => userId === selectedId)
  const [revoked, setRevoked] = useState<TeamMember>()
  const { sort } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="Team"
      description="Owners have full access. Admins cannot change users and prices. Viewers have read-only access. All changes are audited."
      actions={
        <>
          <LinkButton to="/team/audit" variant="default" size="sm">
            Audit log
          </LinkButton>
          {mayWrite && (
            <Button size="sm" onClick={() => setIsInviting(true)}>
              Invite user
            </Button>
          )}
        </>
      }
    >
      <div className="fg-panel">
        <QueryContent query={query}>
          {({ items }) => (
            <DataTable
              caption="Users"
              rows={items}
              rowKey={({ userId }) => userId}
              columns={[
                ...columns,
                linkColumn(mayWrite ? setRevoked : undefined),
                ...(mayWrite ? [editColumn(currentUser.userId, setSelectedId)] : []),
              ]}
              empty={null}
              sort={sort}
              onSortChange={(next) => void navigate({ search: (old) => ({ ...old, sort: next }) })}
            />
          )}
        </QueryContent>
      </div>
      {isInviting && <InviteUserDialog onClose={() => setIsInviting(false)} />}
      {selected && <EditUserDialog user={selected} onClose={() => setSelectedId(undefined)} />}
      {revoked && <RevokeLinkDialog user={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}

const columns: readonly Column<TeamMember>[] = [
  { name: 'Name', sort: 'name', sortValue: ({ name }) => name, renderCell: ({ name }) => name },
  { name: 'Role', sort: 'role', sortValue: ({ role }) => role, renderCell: ({ role }) => role },
  {
    name: 'Status',
    renderCell: ({ disabled }) => (
      <StatusTag tone={disabled ? 'bad' : 'ok'}>{disabled ? 'disabled' : 'active'}</StatusTag>
    ),
  },
  {
    name: 'Second factor',
    renderCell: ({ hasSecondFactor }) => (hasSecondFactor ? 'on' : 'off'),
  },
  { name: 'Created', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Last active',
    sort: '-active',
    sortValue: ({ lastSeenAtUtc }) => lastSeenAtUtc,
    renderCell: ({ lastSeenAtUtc }) => <UtcTime timestampUtc={lastSeenAtUtc} fallback="Never" />,
  },
]

/** The unused link that sets the password of a user, with a button for owners. */
function linkColumn(onRevoke?: (user: TeamMember) => void): Column<TeamMember> {
  return {
    name: 'Open link',
    renderCell: (user) =>
      user.openLink === null ? (
        'none'
      ) : (
        <Group gap="xs">
          <span>
            until <UtcTime timestampUtc={user.openLink.expiresAtUtc} />, by{' '}
            {user.openLink.createdBy}
          </span>
          {onRevoke && (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={`Revoke the link of ${user.name}`}
              onClick={() => onRevoke(user)}
            >
              Revoke
            </Button>
          )}
        </Group>
      ),
  }
}

function editColumn(ownUserId: string, onSelect: (userId: string) => void): Column<TeamMember> {
  return {
    name: 'Actions',
    renderCell: (user) =>
      user.userId === ownUserId ? (
        'You'
      ) : (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Edit ${user.name}`}
          onClick={() => onSelect(user.userId)}
        >
          Edit
        </Button>
      ),
  }
}
