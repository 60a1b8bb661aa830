import { getRouteApi } from '@tanstack/react-router'
import type { Subject } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import type { Column } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar, TextFilter } from '../parts/filters.tsx'
import { InProject } from '../parts/in-project.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { ListPanel } from '../parts/list-panel.tsx'
import { countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { PeriodFilter } from '../parts/period-filter.tsx'
import { Utc } from '../parts/utc.tsx'
import { SubjectSheet } from '../subjects/subject-sheet.tsx'

const route = getRouteApi('/subjects')

/** The people of a gallery, by what the callers named them. */
export function SubjectsPage() {
  return (
    <Page
      title="Subjects"
      lead="The people whom svc.identify can find. The service keeps templates, not pictures; names and attributes are the ones your programs sent."
    >
      <InProject>{(projectId) => <SubjectList projectId={projectId} />}</InProject>
    </Page>
  )
}

function SubjectList({ projectId }: { readonly projectId: string }) {
  const { projectId: chosen, subject, cursor, ...filters } = route.useSearch()
  const navigate = route.useNavigate()
  const parts = { projectId }
  const asked = useAnswer('/projects/:projectId/subjects', { parts, query: { ...filters, cursor } })
  const change = (changed: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changed, cursor: undefined }) })
  const show = (subjectId: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, subject: subjectId }) })
  const { q, externalId, group, createdFromUtc, createdToUtc } = filters
  return (
    <>
      <FilterBar onClear={() => void navigate({ search: { projectId: chosen } })}>
        <TextFilter label="Name or id" value={q} onChange={(text) => change({ q: text })} />
        <TextFilter
          label="External id"
          value={externalId}
          placeholder="the whole id"
          onChange={(text) => change({ externalId: text })}
        />
        <TextFilter label="Group" value={group} onChange={(text) => change({ group: text })} />
        <PeriodFilter
          fromUtc={createdFromUtc}
          toUtc={createdToUtc}
          onChange={({ fromUtc, toUtc }) =>
            change({ createdFromUtc: fromUtc, createdToUtc: toUtc })
          }
        />
      </FilterBar>
      <ListPanel
        caption="Subjects"
        asked={asked}
        columns={columns}
        keyOf={({ subjectId }) => subjectId}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: (old) => ({ ...old, cursor: next }) })}
        onOpen={({ subjectId }) => show(subjectId)}
        openLabel={({ displayName, externalId: own, subjectId }) =>
          `Open ${displayName ?? own ?? subjectId}`
        }
        empty={
          <Empty
            title="No subjects match"
            action={
              <LinkButton to="/playground" search={{ action: 'svc.enroll', projectId }} size="xs">
                Enroll somebody
              </LinkButton>
            }
          >
            Each svc.enroll makes a subject out of a picture, or adds a template to one.
          </Empty>
        }
      />
      {subject && (
        <SubjectSheet projectId={projectId} subjectId={subject} onClose={() => show(undefined)} />
      )}
    </>
  )
}

const columns: readonly Column<Subject>[] = [
  { name: 'Name', cell: ({ displayName }) => displayName ?? '–' },
  { name: 'External id', mono: true, cell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', cell: ({ groups }) => groups.join(', ') || '–' },
  { name: 'Templates', align: 'right', cell: ({ embeddingCount }) => countOf(embeddingCount) },
  { name: 'Enrolled', cell: ({ createdAtUtc }) => <Utc at={createdAtUtc} /> },
  { name: 'Expires', cell: ({ expiresAtUtc }) => <Utc at={expiresAtUtc} fallback="never" /> },
  { name: 'Subject id', mono: true, cell: ({ subjectId }) => subjectId },
]
