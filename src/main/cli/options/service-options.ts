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
    .option('--base-url <url>', 'address of the service, such as https://api.example.com', parseBaseUrl)
    .option('--task-base-url <url>', 'the second host for v2 tasks (default: the base URL)', parseBaseUrl)
    .option(
      '--api-key-env <name>',
      'environment variable that holds the API key (default: SLUICE_API_KEY)',
      parseVariableName,
    )
    .addOption(
      new Option(
        '--timeout <duration>',
        'how long to wait for an answer, such as 30s or 500ms (default: 60s)',
      ).argParser(parseTimeoutMs),
    )
  addDeliveredCodeOption(command)
  return command
    .option('--ca <file>', 'PEM file of certificate authorities to trust beside the built-in ones')
    .option('--client-cert <file>', "PEM file of the client's certificate, together with --client-key")
    .option('--client-key <file>', "PEM file of the client certificate's key")
    .option('--proxy <url>', 'HTTP or HTTPS proxy that every request goes through', parseProxyUrl)
    .option(
      '--proxy-credentials-env <name>',
      'environment variable that holds user:password of the proxy',
      parseVariableName,
    )
}

/** Declares the same and `--connection`. */
export function addServiceOptions(command: Command): Command {
  command
    .optionsGroup('Service:')
    .option(
      '--connection <name>',
      'a stored connection; options override it (default: the one in use, where no --base-url is given)',
      parseConnectionName,
    )
  return addDeploymentOptions(command)
}
