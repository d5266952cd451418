// Command pulumi-resource-kubernetes is Pulumi's own Kubernetes provider, linked with its published schema.
//
// The provider's main package embeds two generated files that its Go module leaves out; toolchain/golang.py writes them
// beside this file from what the module does carry.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema-embed.json
var schema []byte

//go:embed terraform-mapping-embed.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
