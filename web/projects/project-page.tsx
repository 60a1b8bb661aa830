import { SimpleGrid } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleProject } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from '../components/money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { Panel } from '../layout/panel.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { GalleryModeSetting } from './gallery-mode-setting.tsx'
import { ProjectSettingsForm } from './project-settings-form.tsx'
import { ProjectSwitches } from './project-switches.tsx'

const route = getRouteApi('/projects/$id')

/** One project: what it is, its limits, its defaults, its switches, who shares its gallery. */
export function ProjectPage() {
  const { id } = route.useParams()
  const asked = useApiQuery('/projects/:projectId', { pathParams: { projectId: id } })
  return (
    <QueryContent query={asked}>
      {(project) => (
        <Page
          title={project.name}
          description="What applies to every call made with a key of this project."
          actions={
            <LinkButton size="sm" variant="default" to="/projects">
              All projects
            </LinkButton>
          }
        >
          <SimpleGrid cols={{ base: 1, lg: 2 }} key={project.projectId}>
            <Panel title="Facts">
              <ProjectDetails project={project} />
            </Panel>
            <Panel title="Limits and defaults">
              <ProjectSettingsForm project={project} />
            </Panel>
            <Panel title="Switches">
              <ProjectSwitches project={project} />
            </Panel>
            <Panel title="Gallery">
              <GalleryModeSetting project={project} />
            </Panel>
          </SimpleGrid>
        </Page>
      )}
    </QueryContent>
  )
}

function ProjectDetails({ project }: { readonly project: ConsoleProject }) {
  return (
    <DefinitionList
      facts={{
        Id: <span className="fg-mono">{project.projectId}</span>,
        Made: <UtcTime timestampUtc={project.createdAtUtc} />,
        Keys: formatCount(project.keyCount),
        Subjects: formatCount(project.subjects),
        Templates: formatCount(project.templates),
        'Budget left': <MoneyAmount micros={project.budgetMicros} />,
        'Reserved now': <MoneyAmount micros={project.reservedMicros} />,
      }}
    />
  )
}
