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
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
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

/** The API keys with their permissions and expiry. */
export function KeysPage() {
  const { projectId, state, cursor, sort, limit } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [isCreating, setIsCreating] = useState(false)
  const [keyToRevoke, setKeyToRevoke] = useState<ConsoleKey>()
  const query = useApiQuery('/keys', { query: { projectId, state, cursor, sort, limit } })
  const count = useApiQuery('/keys', { query: { projectId, state, ...countOnly } })
  const createButton = (
    <Button size="sm" onClick={() => setIsCreating(true)}>
      Create key
    </Button>
  )
  return (
    <Page
      title="API keys"
      description="A key belongs to one project and has a set of permissions. It is shown once. The service stores only its hash."
      actions={mayWrite && createButton}
    >
      <FilterBar
        values={{ state }}
        onClear={() => void navigate({ search: { projectId, sort, limit } })}
      >
        <ChoiceFilter
          label="Status"
          value={state}
          options={keyStates}
          onChange={(value) =>
            void navigate({ search: (old) => ({ ...old, state: value, cursor: undefined }) })
          }
        />
      </FilterBar>
      <ListPanel
        caption="API keys"
        query={query}
        rowKey={({ keyId }) => keyId}
        columns={mayWrite ? [...columns, revokeColumn(setKeyToRevoke)] : columns}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-created"
        total={totalOf(count)}
        empty={
          <EmptyState title="No API keys" action={mayWrite && createButton}>
            Programs send a key in the header X-Api-Key. Create one key per program, so that you can
            revoke each separately.
          </EmptyState>
        }
      />
      {isCreating && <CreateKeyDialog projectId={projectId} onClose={() => setIsCreating(false)} />}
      {keyToRevoke && (
        <RevokeKeyDialog apiKey={keyToRevoke} onClose={() => setKeyToRevoke(undefined)} />
      )}
    </Page>
  )
}

const columns: readonly Column<ConsoleKey>[] = [
  { name: 'Name', sort: 'name', renderCell: ({ name }) => name },
  { name: 'Key', isMonospace: true, renderCell: ({ prefix, last4 }) => `${prefix}…${last4}` },
  { name: 'Project', renderCell: ({ projectName }) => projectName },
  { name: 'Permissions', renderCell: ({ permissions }) => permissions.join(', ') },
  {
    name: 'Status',
    renderCell: ({ state }) => <StatusTag tone={stateTones[state]}>{state}</StatusTag>,
  },
  {
    name: 'Created',
    sort: '-created',
    renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} />,
  },
  {
    name: 'Expires',
    sort: 'expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="Never" />,
  },
  {
    name: 'Last used',
    sort: '-used',
    renderCell: ({ lastUsedAtUtc }) => <UtcTime timestampUtc={lastUsedAtUtc} fallback="Never" />,
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
