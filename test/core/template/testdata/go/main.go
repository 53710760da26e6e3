// Renders templates with the real text/template, so that the tests can compare.
// Reads a JSON list of cases from standard input and writes a JSON list of results.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"text/template"
)

type Resource struct {
	Operation, Group, Version, Resource, Kind, Namespace, Name, APIVersion, ResourceVersion string
	Labels                                                                                  map[string]string
}

func (r Resource) Label(key string) string { return r.Labels[key] }

func (r Resource) String() string {
	parts := []string{}
	for _, part := range []string{r.Group, r.Version, r.Resource, r.Namespace, r.Name} {
		if part != "" && part != "_cluster" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "/")
}

type Live struct {
	Author, GitTarget string
	Count             int
	Operations        map[string]int
	Resources         []Resource
}

func (l Live) LabelValues(key string) []string {
	seen := map[string]bool{}
	values := []string{}
	for _, resource := range l.Resources {
		if value := resource.Label(key); value != "" && !seen[value] {
			seen[value] = true
			values = append(values, value)
		}
	}
	sort.Strings(values)
	return values
}

func (l Live) LabelValue(key string) string {
	for _, resource := range l.Resources {
		if resource.Label(key) != l.Resources[0].Label(key) {
			return ""
		}
	}
	if len(l.Resources) == 0 {
		return ""
	}
	return l.Resources[0].Label(key)
}

type Case struct {
	Template string
	Data     Live
}

type Result struct {
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Error string `json:"error"`
}

func render(c Case) (result Result) {
	defer func() {
		if trouble := recover(); trouble != nil {
			result = Result{Error: fmt.Sprint(trouble)}
		}
	}()
	parsed, err := template.New("t").Option("missingkey=error").Parse(c.Template)
	if err != nil {
		return Result{Error: err.Error()}
	}
	var out strings.Builder
	if err := parsed.Execute(&out, c.Data); err != nil {
		return Result{Error: err.Error()}
	}
	return Result{OK: true, Text: out.String()}
}

func main() {
	var cases []Case
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	results := make([]Result, len(cases))
	for i, c := range cases {
		results[i] = render(c)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
