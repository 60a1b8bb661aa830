import { Anchor, Button, SimpleGrid } from '@mantine/core'
import type { SystemFacts } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Facts } from '../parts/facts.tsx'
import { bytesOf, countOf, spanOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { Tag } from '../parts/tag.tsx'
import { Utc } from '../parts/utc.tsx'

/** How the machine does that all of this runs on. */
export function SystemPage() {
  const asked = useAnswer('/system')
  return (
    <Page
      title="System"
      lead="Health, workers, memory, disk and the settings in force."
      actions={
        <Button size="sm" variant="default" onClick={() => void asked.refetch()}>
          Refresh
        </Button>
      }
    >
      <Answered asked={asked}>{(facts) => <Content facts={facts} />}</Answered>
    </Page>
  )
}

function Content({ facts }: { readonly facts: SystemFacts }) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        <Panel title="Service">
          <ServiceFacts facts={facts} />
        </Panel>
        <Panel title="Vision workers">
          <Facts facts={facts.workers} />
        </Panel>
        <Panel title="Memory and disk">
          <MachineFacts facts={facts} />
        </Panel>
      </SimpleGrid>
      {facts.store.servers.length > 0 && <Servers servers={facts.store.servers} />}
      <Panel title="Settings">
        <DataTable
          caption="Settings"
          rows={facts.settings}
          keyOf={({ name }) => name}
          columns={[
            { name: 'Name', mono: true, cell: ({ name }) => name },
            { name: 'Value', mono: true, cell: ({ value }) => value },
            { name: 'Set by', cell: ({ isDefault }) => (isDefault ? 'default' : 'environment') },
          ]}
          empty={null}
        />
      </Panel>
    </>
  )
}

/** All that are at work on one database; a call may be answered by any of them. */
function Servers({ servers }: { readonly servers: SystemFacts['store']['servers'] }) {
  return (
    <Panel title="Servers on this database">
      <DataTable
        caption="Servers on this database"
        rows={servers}
        keyOf={({ host, pid }) => `${host} ${pid}`}
        columns={[
          { name: 'Host', mono: true, cell: ({ host }) => host },
          { name: 'Process', mono: true, cell: ({ pid }) => pid },
          { name: 'Version', cell: ({ version }) => version },
          { name: 'Since', cell: ({ startedAtUtc }) => <Utc at={startedAtUtc} /> },
          { name: 'Last seen', cell: ({ seenAtUtc }) => <Utc at={seenAtUtc} /> },
        ]}
        empty={null}
      />
    </Panel>
  )
}

function ServiceFacts({ facts }: { readonly facts: SystemFacts }) {
  return (
    <Facts
      facts={{
        State: (
          <Tag tone={facts.ready ? 'ok' : 'bad'}>
            {facts.ready ? 'ready' : facts.reasons.join('; ')}
          </Tag>
        ),
        Version: facts.version,
        Node: facts.node,
        'Running for': spanOf(facts.uptimeS),
        Database: `${facts.store.version}, ${facts.store.place}`,
        Metrics: (
          <Anchor href={facts.metricsUrl} size="sm">
            {facts.metricsUrl}
          </Anchor>
        ),
      }}
    />
  )
}

function MachineFacts({
  facts: { memory, disk, gallery, store },
}: {
  readonly facts: SystemFacts
}) {
  return (
    <Facts
      facts={{
        'Process memory': bytesOf(memory.rssBytes),
        'JavaScript heap': bytesOf(memory.heapBytes),
        'Search index': `${countOf(gallery.templates)} templates, ${bytesOf(gallery.bytes)}`,
        'Disk free': `${bytesOf(disk.freeBytes)} of ${bytesOf(disk.totalBytes)}`,
        Database: bytesOf(store.bytes),
        Models: bytesOf(disk.modelsBytes),
      }}
    />
  )
}
