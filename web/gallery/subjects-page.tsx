import { Button, Group } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { ConsoleSubject } from '../api/responses.ts'
import { csvUrl } from '../api/api.ts'
import type { TextSearchParams } from '../app/search-params.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import type { Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { FilterBar, TextFilter } from '../lists/filters.tsx'
import { ProjectScope } from '../projects/project-scope.tsx'
import { ShortId } from '../components/names/short-id.tsx'
import { SubjectName } from '../components/names/subject-name.tsx'
import { subjectNameOf } from '../format/subject-name.ts'
import { CsvDownloadButton, ListPanel } from '../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { PeriodFilter } from '../lists/period-filter.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { BulkActions, EnrollDrawer, ImportDrawer } from './lazy-parts.tsx'
import { SubjectDrawer } from './subject-drawer.tsx'
import { useSubjectSelection } from './subjects/selection.ts'
import { SelectPage, selectionColumn } from './subjects/selection-column.tsx'
import { SubjectThumbnail, useCroppedFaces } from './subjects/subject-thumbnail.tsx'

const route = getRouteApi('/subjects')

/** The subjects of a gallery. */
export function SubjectsPage() {
  return (
    <Page
      title="Subjects"
      description="The people that svc.identify can match. The service stores templates, not images, unless Store crops is on. Names and attributes come from your API calls."
    >
      <ProjectScope>
        {(projectId) => <SubjectList key={projectId} projectId={projectId} />}
      </ProjectScope>
    </Page>
  )
}

function SubjectList({ projectId }: { readonly projectId: string }) {
  const search = route.useSearch()
  const { projectId: selectedProjectId, subject, cursor, sort, limit, ...filters } = search
  const navigate = route.useNavigate()
  const pathParams = { projectId }
  const query = useApiQuery('/projects/:projectId/subjects', {
    pathParams,
    query: { ...filters, cursor, sort, limit },
  })
  const count = useApiQuery('/projects/:projectId/subjects', {
    pathParams,
    query: { ...filters, ...countOnly },
  })
  const updateFilters = (changes: Partial<typeof filters>): void =>
    void navigate({ search: (old) => ({ ...old, ...changes, cursor: undefined }) })
  const openSubject = (subjectId: string | undefined): void =>
    void navigate({
      search: (old) => ({ ...old, subject: subjectId }),
      replace: subjectId === undefined,
    })
  const selection = useSubjectSelection()
  const items = query.data?.items ?? []
  const crops = useCroppedFaces(
    projectId,
    items.map(({ subjectId }) => subjectId),
  )
  const thumbnailOf = ({ subjectId }: ConsoleSubject) => (
    <SubjectThumbnail
      projectId={projectId}
      subjectId={subjectId}
      faceId={crops.get(subjectId)?.[0]}
      sizePx={36}
    />
  )
  return (
    <>
      <SubjectActions projectId={projectId} onOpen={openSubject} />
      <FilterBar
        values={filters}
        onClear={() => void navigate({ search: { projectId: selectedProjectId, sort, limit } })}
      >
        <SubjectFilters filters={filters} onChange={updateFilters} />
        <CsvDownloadButton href={csvUrl('/projects/:projectId/subjects', pathParams, filters)} />
      </FilterBar>
      <SelectPage selection={selection} subjects={items} />
      <ListPanel
        caption="Subjects"
        query={query}
        columns={[selectionColumn(selection), nameColumn(thumbnailOf), ...columns]}
        rowKey={({ subjectId }) => subjectId}
        {...listSearch(
          search,
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="created"
        total={totalOf(count)}
        onOpen={({ subjectId }) => openSubject(subjectId)}
        openLabel={(row) => `Open ${subjectNameOf(row)}`}
        empty={
          Object.values(filters).some((value) => value !== undefined) ? (
            <EmptyState title="No subjects match">
              Clear the filters to see all subjects.
            </EmptyState>
          ) : (
            <EmptyState title="No subjects yet">
              Enroll one with a picture, or import a list. svc.enroll creates subjects too.
            </EmptyState>
          )
        }
      />
      {selection.subjects.length > 0 && <BulkActions projectId={projectId} selection={selection} />}
      {subject && (
        <SubjectDrawer
          projectId={projectId}
          subjectId={subject}
          onOpen={openSubject}
          onClose={() => openSubject(undefined)}
        />
      )}
    </>
  )
}

type SubjectFiltersProps = {
  readonly filters: TextSearchParams<SubjectFilterName>
  readonly onChange: (changes: TextSearchParams<SubjectFilterName>) => void
}

type SubjectFilterName = 'q' | 'externalId' | 'group' | 'createdFromUtc' | 'createdToUtc' | 'period'

function SubjectFilters({ filters, onChange }: SubjectFiltersProps) {
  return (
    <>
      <TextFilter label="Name or id" value={filters.q} onChange={(text) => onChange({ q: text })} />
      <TextFilter
        label="External id"
        value={filters.externalId}
        placeholder="Full id"
        onChange={(text) => onChange({ externalId: text })}
      />
      <TextFilter
        label="Group"
        value={filters.group}
        onChange={(text) => onChange({ group: text })}
      />
      <PeriodFilter
        fromUtc={filters.createdFromUtc}
        toUtc={filters.createdToUtc}
        period={filters.period}
        onChange={(range) =>
          onChange({
            createdFromUtc: range.fromUtc,
            createdToUtc: range.toUtc,
            period: range.period,
          })
        }
      />
    </>
  )
}

type SubjectActionsProps = {
  readonly projectId: string
  readonly onOpen: (subjectId: string) => void
}

/** The buttons that add subjects. */
function SubjectActions({ projectId, onOpen }: SubjectActionsProps) {
  const mayWrite = useHasRole('admin')
  const [opened, setOpened] = useState<'enroll' | 'import'>()
  const close = (): void => setOpened(undefined)
  if (!mayWrite) return null
  return (
    <Group gap="xs">
      <Button className="fg-primary" size="sm" onClick={() => setOpened('enroll')}>
        Enroll a subject
      </Button>
      <Button size="sm" variant="default" onClick={() => setOpened('import')}>
        Import
      </Button>
      {opened === 'enroll' && (
        <EnrollDrawer
          projectId={projectId}
          subject={undefined}
          onOpen={(subjectId) => {
            close()
            onOpen(subjectId)
          }}
          onClose={close}
        />
      )}
      {opened === 'import' && <ImportDrawer projectId={projectId} onClose={close} />}
    </Group>
  )
}

function nameColumn(
  thumbnailOf: (subject: ConsoleSubject) => React.ReactNode,
): Column<ConsoleSubject> {
  return {
    name: 'Name',
    renderCell: (subject) => (
      <Group gap="xs" wrap="nowrap">
        {thumbnailOf(subject)}
        <SubjectName subject={subject} />
      </Group>
    ),
  }
}

const columns: readonly Column<ConsoleSubject>[] = [
  { name: 'External id', isMonospace: true, renderCell: ({ externalId }) => externalId ?? '–' },
  { name: 'Groups', renderCell: ({ groups }) => groups.join(', ') || '–' },
  {
    name: 'Templates',
    align: 'right',
    renderCell: ({ embeddingCount }) => formatCount(embeddingCount),
  },
  {
    name: 'Enrolled',
    sort: '-created',
    renderCell: ({ createdAtUtc }) => <UtcTime timestampUtc={createdAtUtc} />,
  },
  {
    name: 'Updated',
    sort: '-updated',
    renderCell: ({ updatedAtUtc }) => <UtcTime timestampUtc={updatedAtUtc} />,
  },
  {
    name: 'Expires',
    renderCell: ({ expiresAtUtc }) => <UtcTime timestampUtc={expiresAtUtc} fallback="Never" />,
  },
  {
    name: 'Subject id',
    renderCell: ({ subjectId }) => <ShortId label="subject id" id={subjectId} />,
  },
]
