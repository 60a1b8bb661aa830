import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleDeletion } from '../../api/responses.ts'
import { useHasRole } from '../../api/session.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { CopyableText } from '../../components/copy-button.tsx'
import { DefinitionList } from '../../components/definition-list.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { QueryContent } from '../../components/query-content.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { Page } from '../../layout/page.tsx'
import { Panel } from '../../layout/panel.tsx'
import { CertificatePanel } from './certificate-panel.tsx'
import { SearchAgain } from './search-again.tsx'
import './print.css'

const route = getRouteApi('/deletions/$subjectId')

/** One deletion: its record, its certificate, which can be printed, and a search for the face. */
export function DeletionPage() {
  const { subjectId } = route.useParams()
  const query = useApiQuery('/deletions', { query: { subjectId, limit: 1 } })
  return (
    <Page
      title="Deletion of a subject"
      actions={
        <Group className="fg-no-print">
          <LinkButton to="/deletions" size="sm" variant="default">
            Deletion ledger
          </LinkButton>
        </Group>
      }
    >
      <QueryContent query={query}>
        {({ items: [deletion] }) =>
          deletion ? (
            <DeletionDetails key={deletion.deletionId} deletion={deletion} />
          ) : (
            <EmptyState title="No deletion record">
              The ledger of the account has no deletion of a subject with this id.
            </EmptyState>
          )
        }
      </QueryContent>
    </Page>
  )
}

function DeletionDetails({ deletion }: { readonly deletion: ConsoleDeletion }) {
  const mayCertify = useHasRole('admin')
  return (
    <>
      <Panel title="Record">
        <DefinitionList
          items={{
            'Deleted (UTC)': <UtcTime timestampUtc={deletion.deletedAtUtc} />,
            'Subject id': <CopyableText label="subject id" text={deletion.subjectId} />,
            'External id': deletion.externalId ?? '–',
            Groups: deletion.groups.join(', ') || '–',
            Templates: deletion.embeddingCount,
            Projects: deletion.projects.join(', ') || '–',
            'Record id': <span className="fg-mono">{deletion.deletionId}</span>,
          }}
        />
      </Panel>
      {mayCertify ? (
        <>
          <CertificatePanel deletion={deletion} />
          <SearchAgain deletion={deletion} />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          Certificates are signed by users with the role admin.
        </Text>
      )}
    </>
  )
}
