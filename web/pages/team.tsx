import { Button } from '@mantine/core'
import { useState } from 'react'
import { useMay, useSignedIn } from '../api/session.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { Page } from '../parts/page.tsx'
import { Tag } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'
import { Invite } from '../team/invite.tsx'
import { ChangeUser } from '../team/change-user.tsx'
import type { User } from '../api/answers.ts'

/** Who may use the console, and as what. */
export function TeamPage() {
  const asked = useAnswer('/users')
  const mayWrite = useMay('owner')
  const { user: me } = useSignedIn()
  const [isInviting, setIsInviting] = useState(false)
  const [chosen, setChosen] = useState<User>()
  return (
    <Page
      title="Team"
      lead="Owners do everything. Admins do everything but users and prices. Viewers look. Every act is written down."
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
        <Answered asked={asked}>
          {({ items }) => (
            <DataTable
              caption="Users"
              rows={items}
              keyOf={({ userId }) => userId}
              columns={mayWrite ? [...columns, changeColumn(me.userId, setChosen)] : columns}
              empty={null}
            />
          )}
        </Answered>
      </div>
      {isInviting && <Invite onClose={() => setIsInviting(false)} />}
      {chosen && <ChangeUser user={chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  )
}

const columns: readonly Column<User>[] = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Role', cell: ({ role }) => role },
  {
    name: 'State',
    cell: ({ disabled }) => (
      <Tag tone={disabled ? 'bad' : 'ok'}>{disabled ? 'shut out' : 'active'}</Tag>
    ),
  },
  { name: 'Made', cell: ({ createdAtUtc }) => <Utc at={createdAtUtc} /> },
  { name: 'Last seen', cell: ({ lastSeenAtUtc }) => <Utc at={lastSeenAtUtc} fallback="not yet" /> },
]

function changeColumn(ownId: string, onChoose: (user: User) => void): Column<User> {
  return {
    name: 'Actions',
    cell: (user) =>
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
