import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Key } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useAnswer } from '../api/use-api.ts'
import { MintKey } from '../keys/mint-key.tsx'
import { RevokeKey } from '../keys/revoke-key.tsx'
import { type Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { ChoiceFilter, FilterBar } from '../parts/filters.tsx'
import { ListPanel } from '../parts/list-panel.tsx'
import { Page } from '../parts/page.tsx'
import { Tag, type Tone } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'

const route = getRouteApi('/keys')
const states = ['active', 'revoked', 'expired'] as const
const tones: Readonly<Record<Key['state'], Tone>> = {
  active: 'ok',
  revoked: 'bad',
  expired: 'warn',
}

/** Who may call, with what, until when. */
export function KeysPage() {
  const { projectId, state, cursor } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('admin')
  const [isMinting, setIsMinting] = useState(false)
  const [revoked, setRevoked] = useState<Key>()
  const asked = useAnswer('/keys', { query: { projectId, state, cursor } })
  const mint = (
    <Button size="sm" onClick={() => setIsMinting(true)}>
      New key
    </Button>
  )
  return (
    <Page
      title="API keys"
      lead="A key belongs to one project and may do what its permissions name. It is shown once, when it is made; the service keeps only its hash."
      actions={mayWrite && mint}
    >
      <FilterBar
        onClear={() => void navigate({ search: ({ projectId: kept }) => ({ projectId: kept }) })}
      >
        <ChoiceFilter
          label="State"
          value={state}
          choices={states}
          onChange={(value) =>
            void navigate({ search: (old) => ({ ...old, state: value, cursor: undefined }) })
          }
        />
      </FilterBar>
      <ListPanel
        caption="API keys"
        asked={asked}
        keyOf={({ keyId }) => keyId}
        columns={mayWrite ? [...columns, revokeColumn(setRevoked)] : columns}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        empty={
          <Empty title="No keys here" action={mayWrite && mint}>
            Programs call the service with a key in the header X-Api-Key. Make one for each program,
            so that one of them can be shut out without the others.
          </Empty>
        }
      />
      {isMinting && <MintKey projectId={projectId} onClose={() => setIsMinting(false)} />}
      {revoked && <RevokeKey apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}

const columns: readonly Column<Key>[] = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Key', mono: true, cell: ({ prefix, last4 }) => `${prefix}…${last4}` },
  { name: 'Project', cell: ({ projectName }) => projectName },
  { name: 'Permissions', cell: ({ permissions }) => permissions.join(', ') },
  { name: 'State', cell: ({ state }) => <Tag tone={tones[state]}>{state}</Tag> },
  { name: 'Made', cell: ({ createdAtUtc }) => <Utc at={createdAtUtc} /> },
  { name: 'Expires', cell: ({ expiresAtUtc }) => <Utc at={expiresAtUtc} fallback="never" /> },
  { name: 'Last used', cell: ({ lastUsedAtUtc }) => <Utc at={lastUsedAtUtc} fallback="not yet" /> },
]

function revokeColumn(onRevoke: (key: Key) => void): Column<Key> {
  return {
    name: 'Actions',
    cell: (key) =>
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
