import { Button, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleWebhook } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { Page } from '../layout/page.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { CreateWebhookDialog } from './create-webhook-dialog.tsx'
import { WebhookDrawer } from './webhook-drawer.tsx'
import { describeFilter, WebhookStatus } from './webhook-status.tsx'

const route = getRouteApi('/webhooks')

/** The webhooks of the projects, with the state of their deliveries. */
export function WebhooksPage() {
  const { projectId, webhook: openId, sort, cursor, state, type } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useHasRole('admin')
  const [isCreating, setIsCreating] = useState(false)
  const query = useApiQuery('/webhooks', { query: { projectId } })
  const createButton = (
    <Button size="sm" onClick={() => setIsCreating(true)}>
      Create webhook
    </Button>
  )
  const open = (webhook: string | undefined): void =>
    void navigate({
      search: (old) => ({ ...old, webhook, cursor: undefined, state: undefined, type: undefined }),
      replace: webhook === undefined,
    })
  return (
    <Page
      title="Webhooks"
      description="A webhook receives events of one project: signed requests that are repeated until they are accepted."
      actions={mayWrite && createButton}
    >
      <QueryContent query={query}>
        {({ items, eventTypes }) => (
          <>
            <div className="fg-panel">
              <DataTable
                caption="Webhooks"
                rows={items}
                rowKey={({ webhookId }) => webhookId}
                columns={columns}
                sort={sort}
                onSortChange={(next) =>
                  void navigate({ search: (old) => ({ ...old, sort: next }) })
                }
                onOpen={({ webhookId }) => open(webhookId)}
                openLabel={({ url }) => `Open ${url}`}
                empty={
                  <EmptyState title="No webhooks" action={mayWrite && createButton}>
                    Create one to learn when a budget is low, a key expires, a subject was deleted
                    or a face was found.
                  </EmptyState>
                }
              />
            </div>
            {isCreating && (
              <CreateWebhookDialog
                projectId={projectId}
                eventTypes={eventTypes}
                onClose={() => setIsCreating(false)}
              />
            )}
            <WebhookDrawer
              webhook={items.find(({ webhookId }) => webhookId === openId)}
              eventTypes={eventTypes}
              search={{ cursor, state, type }}
              onSearchChange={(change) =>
                void navigate({ search: (old) => ({ ...old, ...change }), replace: true })
              }
              onClose={() => open(undefined)}
            />
          </>
        )}
      </QueryContent>
    </Page>
  )
}

const columns: readonly Column<ConsoleWebhook>[] = [
  {
    name: 'URL',
    isMonospace: true,
    sort: 'url',
    sortValue: ({ url }) => url,
    renderCell: ({ url }) => url,
  },
  {
    name: 'Project',
    sort: 'project',
    sortValue: ({ projectName }) => projectName,
    renderCell: ({ projectName }) => projectName,
  },
  {
    name: 'Events',
    renderCell: (webhook) => (
      <>
        {webhook.events.join(', ')}
        <Text size="xs" c="dimmed">
          {describeFilter(webhook)}
        </Text>
      </>
    ),
  },
  { name: 'Status', renderCell: (webhook) => <WebhookStatus webhook={webhook} /> },
  {
    name: 'Pending',
    align: 'right',
    sort: '-pending',
    sortValue: ({ pending }) => pending,
    renderCell: ({ pending }) => pending,
  },
  {
    name: 'Discarded',
    align: 'right',
    sort: '-discarded',
    sortValue: ({ discarded }) => discarded,
    renderCell: ({ discarded }) => discarded,
  },
]
