import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleKey } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { Page } from '../layout/page.tsx'
import { StatusTag, type StatusTone } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/keys')
const keyStates = ['active', 'revoked', 'expired'] as const
const stateTones: Readonly<Record<ConsoleKey['state'], StatusTone>> = {
  active: 'ok',
  revoked: 'bad',
  expired: 'warn',
}

/** Who may call, with what, until when. */
export function KeysPage() {
  const { projectId, state, cursor } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [isMinting, setIsMinting] = useState(false)
  const [revoked, setRevoked] = useState<ConsoleKey>()
  const asked = useApiQuery('/keys', { query: { projectId, state, cursor } })
  const mint = (
    <Button size="sm" onClick={() => setIsMinting(true)}>
      New key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="A key belongs to one project and may do what its permissions name. It is shown once, when it is made; the service keeps only its hash."
      actions={mayWrite && mint}
    >
      <FilterBar
        onClear={() => void navigate({ search: ({ projectId: kept }) => ({ projectId: kept }) })}
      >
        <ChoiceFilter
          label="State"
          value={state}
          options={keyStates}
          onChange={(value) =>
            void navigate({ search: (old) => ({ ...old, state: value, cursor: undefined }) })
          }
        />
      </FilterBar>
      <ListPanel
        caption="API keys"
        query={asked}
        rowKey={({ keyId }) => keyId}
        columns={mayWrite ? [...columns, revokeColumn(setRevoked)] : columns}
        cursor={cursor}
        onCursorChange={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <EmptyState title="No keys here" action={mayWrite && mint}>
            Programs call the service with a key in the header X-Api-Key. Make one for each program,
            so that one of them can be shut out without the others.
          </EmptyState>
        }
      />
      {isMinting && <CreateKeyDialog projectId={projectId} onClose={() => setIsMinting(false)} />}
      {revoked && <RevokeKeyDialog apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}

const columns: readonly Column<ConsoleKey>[] = [
  { name: 'Name', renderCell: ({ name }) => name },
  { name: 'Key', isMonospace: true, renderCell: ({ prefix, last4 }) => `${prefix}…${last4}` },
  { name: 'Project', renderCell: ({ projectName }) => projectName },
  { name: 'Permissions', renderCell: ({ permissions }) => permissions.join(', ') },
  {
    name: 'State',
    renderCell: ({ state }) => <StatusTag tone={stateTones[state]}>{state}</StatusTag>,
  },
  { name: 'Made', renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} /> },
  {
    name: 'Expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="never" />,
  },
  {
    name: 'Last used',
    renderCell: ({ lastUsedAtUtc }) => <UtcTime timestampUtc={lastUsedAtUtc} fallback="not yet" />,
  },
]

function revokeColumn(onRevoke: (key: ConsoleKey) => void): Column<ConsoleKey> {
  return {
    name: 'Actions',
    renderCell: (key) =>
      key.state === 'active' && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Revoke ${key.name}`}
          onClick={() => onRevoke(key)}
        >
          Revoke
        </Button>
      ),
  }
}
