import { type Command, Option } from 'commander'
import { parseBaseUrl, parseProxyUrl } from './base-url-option.ts'
import { parseTimeoutMs } from './duration-option.ts'
import { parseConnectionName, parseVariableName } from './name-options.ts'
import { addDeliveredCodeOption } from './shared-options.ts'

/** What a deployment is, as far as options say it; a stored connection says the rest. */
export interface DeploymentFlags {
  baseUrl?: string
  taskBaseUrl?: string
  apiKeyEnv?: string
  timeout?: number
  deliveredCode?: string[]
  ca?: string
  clientCert?: string
  clientKey?: string
  proxy?: string
  proxyCredentialsEnv?: string
}

/** Which deployment requests go to. */
export interface ServiceFlags extends DeploymentFlags {
  connection?: string
}

/** Declares what says where a deployment is and how it is reached; `connection add` and every sending command. */
export function addDeploymentOptions(command: Command): Command {
  command
    .option('--base-url <url>', 'service URL, such as https://api.example.com', parseBaseUrl)
    .option('--task-base-url <url>', 'service URL for v2 tasks (default: the base URL)', parseBaseUrl)
    .option(
      '--api-key-env <name>',
      'environment variable with the API key (default: SLUICE_API_KEY)',
      parseVariableName,
    )
    .addOption(
      new Option('--timeout <duration>', 'request timeout, such as 30s or 500ms (default: 60s)').argParser(
        parseTimeoutMs,
      ),
    )
  addDeliveredCodeOption(command)
  return command
    .option('--ca <file>', 'PEM file with additional trusted certificate authorities')
    .option('--client-cert <file>', 'PEM file with the client certificate; requires --client-key')
    .option('--client-key <file>', 'PEM file with the key of the client certificate')
    .option('--proxy <url>', 'HTTP or HTTPS proxy for every request', parseProxyUrl)
    .option(
      '--proxy-credentials-env <name>',
      'environment variable with user:password for the proxy',
      parseVariableName,
    )
}

/** Declares the same and `--connection`. */
export function addServiceOptions(command: Command): Command {
  command
    .optionsGroup('Service:')
    .option(
      '--connection <name>',
      'stored connection; other options override it (default: the connection in use, unless --base-url is given)',
      parseConnectionName,
    )
  return addDeploymentOptions(command)
}
