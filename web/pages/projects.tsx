import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Project } from '../api/answers.ts'
import { useMay } from '../api/session.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Money } from '../parts/money.tsx'
import { countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { NewProject } from '../projects/new-project.tsx'

/** Each project with its gallery, limits, budget and keys. */
export function ProjectsPage() {
  const asked = useAnswer('/projects')
  const mayWrite = useMay('admin')
  const [isMaking, setIsMaking] = useState(false)
  const make = (
    <Button size="sm" onClick={() => setIsMaking(true)}>
      New project
    </Button>
  )
  return (
    <Page
      title="Projects"
      lead="A project has its own keys, budget, rate limit and settings, and a gallery that is isolated or shared with the account’s other projects."
      actions={mayWrite && make}
    >
      <div className="fg-panel">
        <Answered asked={asked}>
          {({ items }) => (
            <DataTable
              caption="Projects"
              rows={items}
              keyOf={({ projectId }) => projectId}
              columns={columns}
              empty={
                <Empty title="No project yet" action={mayWrite && make}>
                  Keys, faces and money live in projects. Make one for each product or environment.
                </Empty>
              }
            />
          )}
        </Answered>
      </div>
      {isMaking && <NewProject onClose={() => setIsMaking(false)} />}
    </Page>
  )
}

const columns: readonly Column<Project>[] = [
  {
    name: 'Project',
    cell: ({ projectId, name }) => (
      <Anchor
        size="sm"
        renderRoot={(props) => <Link {...props} to="/projects/$id" params={{ id: projectId }} />}
      >
        {name}
      </Anchor>
    ),
  },
  { name: 'Gallery', cell: ({ galleryMode }) => galleryMode },
  { name: 'Subjects', align: 'right', cell: ({ subjects }) => countOf(subjects) },
  {
    name: 'Limit',
    align: 'right',
    cell: ({ sustainedPerS, burst }) => `${sustainedPerS}/s, burst ${burst}`,
  },
  { name: 'Keys', align: 'right', cell: ({ keyCount }) => countOf(keyCount) },
  { name: 'Budget', align: 'right', cell: ({ budgetMicros }) => <Money micros={budgetMicros} /> },
]
