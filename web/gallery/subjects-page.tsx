import { Box, SegmentedControl, Stack } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import type { UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleSubject, CursorPage } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { ProjectScope } from '../projects/project-scope.tsx'
import { subjectNameOf } from '../format/subject-name.ts'
import { ListPanel } from '../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../lists/list-search.ts'
import type { ListTotal } from '../lists/pager.tsx'
import { Page } from '../layout/page.tsx'
import { BulkActions, VisitorList } from './lazy-parts.tsx'
import { nameColumn, subjectColumns } from './people/subject-columns.tsx'
import { SubjectGrid } from './people/subject-grid.tsx'
import { SubjectTools } from './people/subject-tools.tsx'
import { SubjectDrawer } from './subject-drawer.tsx'
import { useSubjectSelection } from './subjects/selection.ts'
import { SelectPage, selectionColumn } from './subjects/selection-column.tsx'
import { SubjectThumbnail, useCroppedFaces } from './subjects/subject-thumbnail.tsx'

const route = getRouteApi('/subjects')

/** The people of a gallery: enrolled ones, and unknown ones in a tab. */
export function SubjectsPage() {
  const { tab = 'subjects' } = route.useSearch()
  const navigate = route.useNavigate()
  const isVisitors = tab === 'visitors'
  const List = isVisitors ? VisitorList : SubjectList
  return (
    <Page
      title={isVisitors ? 'Visitors' : 'Subjects'}
      description={
        <Box component="span" visibleFrom="xs">
          {isVisitors ? visitorsText : subjectsText}
        </Box>
      }
      actions={
        <SegmentedControl
          aria-label="People"
          size="xs"
          data={tabs}
          value={isVisitors ? tab : 'subjects'}
          onChange={(value) => {
            const chosen = value === 'visitors' ? value : undefined
            void navigate({ search: ({ projectId }) => ({ projectId, tab: chosen }) })
          }}
        />
      }
    >
      <ProjectScope>{(projectId) => <List key={projectId} projectId={projectId} />}</ProjectScope>
    </Page>
  )
}

const tabs = [
  { value: 'subjects', label: 'Subjects' },
  { value: 'visitors', label: 'Visitors' },
]

const subjectsText =
  'The people that svc.identify can match. The service stores templates, not images, unless Store crops is on. Names and attributes come from your API calls.'

const visitorsText =
  'Unknown people that svc.identify found without a match, and recognizes when they return.'

function SubjectList({ projectId }: { readonly projectId: string }) {
  const search = route.useSearch()
  const { projectId: selectedProjectId, subject, cursor, sort, limit, ...others } = search
  const { tab: _tab, ignored: _ignored, visitor: _visitor, ...filters } = others
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
  const [view, setView] = useLocalStorage({
    key: 'facegate-subjects-view',
    defaultValue: 'faces',
    getInitialValueInEffect: false,
  })
  const list = listSearch(
    search,
    (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
  )
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return (
    <Stack gap="sm">
      <SubjectTools
        projectId={projectId}
        isEmpty={!isFiltered && query.data?.items.length === 0}
        filters={filters}
        sort={sort}
        view={view}
        onFiltersChange={updateFilters}
        onClear={() => void navigate({ search: { projectId: selectedProjectId, sort, limit } })}
        onSortChange={list.onSortChange}
        onViewChange={setView}
        onOpen={openSubject}
      />
      <SubjectPanel
        projectId={projectId}
        query={query}
        total={totalOf(count)}
        list={list}
        isTable={view === 'table'}
        isFiltered={isFiltered}
        onOpen={openSubject}
      />
      {subject && (
        <SubjectDrawer
          projectId={projectId}
          subjectId={subject}
          onOpen={openSubject}
          onClose={() => openSubject(undefined)}
        />
      )}
    </Stack>
  )
}

type SubjectPanelProps = {
  readonly projectId: string
  readonly query: UseQueryResult<CursorPage<ConsoleSubject>>
  readonly total: ListTotal | undefined
  readonly list: ReturnType<typeof listSearch>
  readonly isTable: boolean
  readonly isFiltered: boolean
  readonly onOpen: (subjectId: string) => void
}

/** The subjects as faces or as a table, and what can be done with the chosen ones. */
function SubjectPanel({ projectId, query, total, list, onOpen, ...props }: SubjectPanelProps) {
  const { isTable, isFiltered } = props
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
      {isTable && <SelectPage selection={selection} subjects={items} />}
      <ListPanel
        caption="Subjects"
        query={query}
        columns={[selectionColumn(selection), nameColumn(thumbnailOf), ...subjectColumns]}
        rowKey={({ subjectId }) => subjectId}
        {...list}
        defaultSort="created"
        total={total}
        onOpen={({ subjectId }) => onOpen(subjectId)}
        openLabel={(row) => `Open ${subjectNameOf(row)}`}
        renderItems={
          isTable
            ? undefined
            : (subjects) => (
                <SubjectGrid
                  projectId={projectId}
                  subjects={subjects}
                  selection={selection}
                  faceIdOf={(subjectId) => crops.get(subjectId)?.[0]}
                  onOpen={onOpen}
                />
              )
        }
        empty={<NoSubjects isFiltered={isFiltered} />}
      />
      {!isTable && <SelectPage selection={selection} subjects={items} />}
      {selection.subjects.length > 0 && <BulkActions projectId={projectId} selection={selection} />}
    </>
  )
}

function NoSubjects({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState title="No subjects match">Clear the filters to see all subjects.</EmptyState>
  ) : (
    <EmptyState title="No subjects yet">
      Enroll one with a picture, or import a list. svc.enroll creates subjects too.
    </EmptyState>
  )
}
