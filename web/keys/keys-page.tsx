import { Button, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleKey } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { KeyDrawer } from './key-drawer.tsx'
import { keyStates, keyStateTones } from './key-states.ts'
import { DayCalls, type UsageOfKeys } from './key-usage.tsx'
import { type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { ChoiceFilter, FilterBar } from '../lists/filters.tsx'
import { ListPanel } from '../lists/list-panel.tsx'
import { useRefreshMs } from '../log/live-refresh.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import { Page } from '../layout/page.tsx'
import { StatusTag } from '../components/status-tag.tsx'
import { UtcTime } from '../components/utc-time.tsx'

const route = getRouteApi('/keys')

/** Hourly counts need no shorter interval. */
const usagePollMs = 60_000

/** The API keys with their usage. A row opens the details and the changes of a key. */
export function KeysPage() {
  const { projectId, state, cursor, sort, limit, key: openKeyId } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [isCreating, setIsCreating] = useState(false)
  const { pollMs } = useRefreshMs('10')
  const query = useApiQuery('/keys', {
    query: { projectId, state, cursor, sort, limit },
    pollMs: () => pollMs,
  })
  const count = useApiQuery('/keys', { query: { projectId, state, ...countOnly } })
  const usage = useKeyUsage(query.data?.items ?? [], pollMs !== false)
  const openKey = useOpenKey(query.data?.items ?? [], openKeyId)
  const setOpenKey = (key: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, key }), replace: key === undefined })
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
        rows={query.data?.items}
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
        columns={columnsOf(usage).filter(({ name }) => !projectId || name !== 'Project')}
        onOpen={({ keyId }) => setOpenKey(keyId)}
        openLabel={({ name }) => `Open ${name}`}
        {...listSearch(
          { cursor, sort, limit },
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-created"
        total={totalOf(count)}
        empty={
          state === undefined ? (
            <EmptyState title="No API keys" action={mayWrite && createButton}>
              Programs send a key in the header X-Api-Key. Create one key per program, so that you
              can revoke each separately.
            </EmptyState>
          ) : (
            <EmptyState title="No API keys match">Clear the filter to see all keys.</EmptyState>
          )
        }
      />
      {isCreating && <CreateKeyDialog projectId={projectId} onClose={() => setIsCreating(false)} />}
      {openKey && (
        <KeyDrawer
          apiKey={openKey}
          usage={usage}
          mayWrite={mayWrite}
          onClose={() => setOpenKey(undefined)}
        />
      )}
    </Page>
  )
}

/** Returns the open key. It stays open when a new key moves it to the next page. */
function useOpenKey(keys: readonly ConsoleKey[], keyId: string | undefined) {
  const [last, setLast] = useState<ConsoleKey>()
  const listed = keys.find((key) => key.keyId === keyId)
  if (listed && listed !== last) setLast(listed)
  return last?.keyId === keyId ? last : undefined
}

/** Returns the usage of the keys of a page. */
function useKeyUsage(keys: readonly ConsoleKey[], isLive: boolean): UsageOfKeys {
  const keyIds = keys.map(({ keyId }) => keyId).join(',')
  const usage = useApiQuery('/key-usage', {
    query: { keyIds },
    enabled: keyIds !== '',
    pollMs: () => isLive && usagePollMs,
  })
  return usage.data
}

function columnsOf(usage: UsageOfKeys): readonly Column<ConsoleKey>[] {
  return [
    { name: 'Name', sort: 'name', isFlexible: true, renderCell: ({ name }) => name },
    {
      name: 'Key',
      isMonospace: true,
      renderCell: ({ prefix, last4 }) => (
        <span className="fg-row-line">{`${prefix}…${last4}`}</span>
      ),
    },
    { name: 'Project', renderCell: ({ projectName }) => projectName },
    { name: 'Status', renderCell: (key) => <KeyStatus apiKey={key} /> },
    {
      name: 'Calls, 24 h',
      align: 'right',
      renderCell: (key) => <DayCalls apiKey={key} usage={usage} />,
    },
    {
      name: 'Failed, 24 h',
      align: 'right',
      renderCell: (key) => <DayCalls apiKey={key} usage={usage} isFailed />,
    },
    {
      name: 'Last used',
      sort: '-used',
      renderCell: ({ lastUsedAtUtc }) => <UtcTime timestampUtc={lastUsedAtUtc} fallback="Never" />,
    },
    {
      name: 'Created',
      sort: '-created',
      renderCell: ({ createdAtUtc }) => <UtcTime isDate timestampUtc={createdAtUtc} />,
    },
    {
      name: 'Expires',
      sort: 'expires',
      renderCell: ({ expiresAtUtc }) => (
        <UtcTime isDate timestampUtc={expiresAtUtc} fallback="Never" />
      ),
    },
  ]
}

function KeyStatus({ apiKey: { state, formerSecret } }: { readonly apiKey: ConsoleKey }) {
  return (
    <>
      <StatusTag tone={keyStateTones[state]}>{state}</StatusTag>
      {formerSecret?.isValid && (
        <Text size="xs" c="dimmed">
          …{formerSecret.last4} until <UtcTime timestampUtc={formerSecret.endsAtUtc} />
        </Text>
      )}
    </>
  )
}
