import { useAnswer } from '../api/use-api.ts'
import { ChoiceFilter, FilterBar, TextFilter } from '../parts/filters.tsx'
import { KeyFilter } from '../parts/key-filter.tsx'
import { PeriodFilter } from '../parts/period-filter.tsx'
import type { TextSearch } from '../shell/search.ts'

type Filters = TextSearch<
  'projectId' | 'keyId' | 'action' | 'code' | 'fromUtc' | 'toUtc' | 'requestId'
>

type Parts = {
  readonly filters: Filters
  readonly onChange: (change: Filters) => void
  readonly onClear: () => void
}

/** By key, project, action, error code, period and request id. */
export function LogFilters({ filters, onChange, onClear }: Parts) {
  const { projectId, keyId, action, code, fromUtc, toUtc, requestId } = filters
  const projects = useAnswer('/projects')
  const actions = useAnswer('/actions')
  const errors = useAnswer('/errors')
  return (
    <FilterBar onClear={onClear}>
      <ChoiceFilter
        label="Project"
        value={projectId}
        choices={(projects.data?.items ?? []).map((project) => ({
          value: project.projectId,
          label: project.name,
        }))}
        onChange={(value) => onChange({ projectId: value, keyId: undefined })}
      />
      <KeyFilter
        projectId={projectId}
        value={keyId}
        onChange={(value) => onChange({ keyId: value })}
      />
      <ChoiceFilter
        label="Action"
        value={action}
        choices={(actions.data ?? []).map(({ name }) => name)}
        onChange={(value) => onChange({ action: value })}
      />
      <ChoiceFilter
        label="Error code"
        value={code}
        choices={(errors.data ?? []).map((error) => error.code)}
        onChange={(value) => onChange({ code: value })}
      />
      <PeriodFilter fromUtc={fromUtc} toUtc={toUtc} onChange={onChange} />
      <TextFilter
        label="Request id"
        value={requestId}
        placeholder="the whole id"
        onChange={(value) => onChange({ requestId: value })}
      />
    </FilterBar>
  )
}
