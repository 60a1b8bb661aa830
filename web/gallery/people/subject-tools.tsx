import { Button, Group, NativeSelect, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { csvUrl } from '../../api/api.ts'
import { useHasRole } from '../../api/session.ts'
import type { TextSearchParams } from '../../app/search-params.ts'
import { FilterBar, TextFilter } from '../../lists/filters.tsx'
import { CsvDownloadButton } from '../../lists/list-panel.tsx'
import { PeriodFilter } from '../../lists/period-filter.tsx'
import { EnrollDrawer, ImportDrawer, PictureSearch } from '../lazy-parts.tsx'
import './people.css'

type Props = {
  readonly projectId: string
  readonly filters: TextSearchParams<SubjectFilterName>
  readonly sort: string | undefined
  readonly view: string
  /** Whether the gallery has no subjects, so that there is nothing to filter, sort or download. */
  readonly isEmpty: boolean
  readonly onFiltersChange: (changes: TextSearchParams<SubjectFilterName>) => void
  readonly onClear: () => void
  readonly onSortChange: (sort: string) => void
  readonly onViewChange: (view: string) => void
  readonly onOpen: (subjectId: string) => void
}

/** The search by picture, the filters, the order and the form of the list, and the buttons that add subjects. */
export function SubjectTools({ projectId, filters, sort, view, isEmpty, ...props }: Props) {
  const mayWrite = useHasRole('admin')
  return (
    <div className="fg-people-tools">
      {mayWrite && <PictureSearch projectId={projectId} onOpen={props.onOpen} />}
      {mayWrite && <EnrollButton projectId={projectId} onOpen={props.onOpen} />}
      {isEmpty ? (
        mayWrite && (
          <Group>
            <ImportButton projectId={projectId} />
          </Group>
        )
      ) : (
        <FilterBar values={filters} onClear={props.onClear}>
          <SubjectFilters filters={filters} onChange={props.onFiltersChange} />
          {view === 'faces' && <SortChoice sort={sort} onChange={props.onSortChange} />}
          <SegmentedControl
            aria-label="Show as"
            size="xs"
            data={views}
            value={view}
            onChange={props.onViewChange}
          />
          <CsvDownloadButton
            href={csvUrl('/projects/:projectId/subjects', { projectId }, filters)}
          />
          {mayWrite && <ImportButton projectId={projectId} />}
        </FilterBar>
      )}
    </div>
  )
}

/** The forms of the list. The browser remembers the chosen one. */
const views = [
  { value: 'faces', label: 'Faces' },
  { value: 'table', label: 'Table' },
]

type SortChoiceProps = {
  readonly sort: string | undefined
  readonly onChange: (sort: string) => void
}

const sorts = [
  { value: 'created', label: 'First enrolled' },
  { value: '-created', label: 'Last enrolled' },
  { value: 'name', label: 'Name' },
  { value: '-name', label: 'Name, descending' },
  { value: '-seen', label: 'Last seen' },
  { value: 'seen', label: 'Longest not seen' },
  { value: '-updated', label: 'Last updated' },
  { value: 'updated', label: 'Longest not updated' },
]

/** Sorts the faces, which have no headers. */
function SortChoice({ sort, onChange }: SortChoiceProps) {
  return (
    <NativeSelect
      size="xs"
      label="Sort by"
      data={sorts}
      value={sort ?? 'created'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
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

type EnrollButtonProps = {
  readonly projectId: string
  readonly onOpen: (subjectId: string) => void
}

function EnrollButton({ projectId, onOpen }: EnrollButtonProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div className="fg-people-actions">
      <Button className="fg-primary" size="sm" onClick={() => setIsOpen(true)}>
        Enroll a subject
      </Button>
      {isOpen && (
        <EnrollDrawer
          projectId={projectId}
          subject={undefined}
          onOpen={(subjectId) => {
            setIsOpen(false)
            onOpen(subjectId)
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </div>
  )
}

function ImportButton({ projectId }: { readonly projectId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button size="sm" variant="default" onClick={() => setIsOpen(true)}>
        Import
      </Button>
      {isOpen && <ImportDrawer projectId={projectId} onClose={() => setIsOpen(false)} />}
    </>
  )
}
